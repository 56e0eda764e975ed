internal import DocumentModel
internal import HearthTransport
internal import SyncEngine

extension SyncClient {
    func document(at path: DocumentPath, from source: FirestoreSource) async throws(StatusError) -> DocumentRead {
        let query = try ViewQuery(document: path)
        let snapshot = try await read(query, from: source) { connection throws(StatusError) in
            try await connection.answer(at: path)
        }
        if let snapshot { return DocumentRead(document: snapshot.view.documents.first, isFromCache: false) }
        switch (try withEngine { (engine) throws(StatusError) in try engine.document(at: path) }, source) {
        case (.found(let document), _):
            return DocumentRead(document: document, isFromCache: true)
        case (.missing, .cache):
            return DocumentRead(document: nil, isFromCache: true)
        case (_, .cache):
            let message =
                "Failed to get document from cache. (However, this document may exist on the server. Run again with the source "
                + "default or server to try to get it from the server.)"
            throw StatusError(.unavailable, message, path: path.string)
        case (.missing, _), (.unknown, _):
            throw StatusError(.unavailable, "Failed to get document because the client is offline.", path: path.string)
        }
    }

    func result(
        of query: StructuredQuery,
        _ normalized: NormalizedQuery,
        from source: FirestoreSource
    ) async throws(StatusError) -> SyncSnapshot {
        let view = try ViewQuery(query)
        let snapshot = try await read(view, from: source) { connection throws(StatusError) in
            let result = try await connection.documents(of: query, normalized)
            var answer = ServerAnswer(time: result.readTime, epoch: result.epoch, damaged: result.damaged)
            for encoded in result.documents {
                do throws(StatusError) {
                    answer.documents.append(RemoteDocument(try encoded.decoded()))
                } catch {
                    answer.damaged.append(error)
                }
            }
            return answer
        }
        if let snapshot { return snapshot }
        let generation = userGeneration
        let result: Result<CachedResult, StatusError> = await withCheckedContinuation { continuation in
            scanInSteps { (engine, scan, maximumCount) throws(StatusError) in
                try engine.result(of: view, continuing: scan, maximumCount: maximumCount)
            } completion: { client, result in
                client.fillIndexes()
                // Otherwise it would begin with the writes of one user and end with those of another.
                continuation.resume(returning: client.userGeneration == generation ? result : .failure(.userChanged))
            }
        }
        return await Self.snapshot(of: try result.get())
    }

    /// Sorts the documents of a result, while the session goes on.
    private nonisolated static func snapshot(of result: CachedResult) async -> SyncSnapshot {
        SyncSnapshot(view: result.snapshot, damaged: [])
    }

    /// Reads from the server; returns `nil` if the cache has to be read instead.
    private func read(
        _ query: ViewQuery,
        from source: FirestoreSource,
        _ operation: @escaping @Sendable (HearthConnection) async throws(StatusError) -> ServerAnswer
    ) async throws(StatusError) -> SyncSnapshot? {
        guard !isTerminated else { throw .terminated }
        switch source {
        case .cache:
            return nil
        case .server:
            guard engine.isNetworkEnabled else { throw .networkDisabled }
            let result = try await serverResult(of: query, within: nil, operation)
            do throws(StatusError) {
                return try result.get()
            } catch {
                guard error.isServerUnreachable else { throw error }
                // Also for what a proxy has answered instead.
                throw StatusError(.unavailable, "Failed to read from the server: \(error.message)", cause: error)
            }
        case .default:
            guard engine.onlineState != .offline else { return nil }
            // A client that is offline need not find that out with each read.
            let result = try await serverResult(of: query, within: hasMissedAnswer ? .seconds(1) : .seconds(10), operation)
            do throws(StatusError) {
                return try result.get()
            } catch {
                guard error.isServerUnreachable else { throw error }
                return nil
            }
        }
    }

    /// Returns what the server answers, or an error that says that it cannot be reached.
    ///
    /// - Parameter timeout: The time to wait for an answer, unless a listener has a connection; `nil` for that of the connection.
    private func serverResult(
        of query: ViewQuery,
        within timeout: Duration?,
        _ operation: @escaping @Sendable (HearthConnection) async throws(StatusError) -> ServerAnswer
    ) async throws(StatusError) -> Result<SyncSnapshot, StatusError> {
        let reading = ServerReading()
        startReading(query, reading, operation)
        await reading.wait(for: engine.onlineState == .online ? nil : timeout)
        guard !isTerminated else { throw .terminated }
        if reading.result == nil, Task.isCancelled { throw StatusError(.cancelled, "The call was cancelled.") }
        let result = reading.result ?? .failure(StatusError(.unavailable, "The server does not answer."))
        if case .failure(let error) = result, error.isServerUnreachable { hasMissedAnswer = true }
        return result
    }

    /// Reads from the server in a task that goes on if its caller waits no longer, so that the cache has the answer.
    private func startReading(
        _ query: ViewQuery,
        _ reading: ServerReading,
        _ operation: @escaping @Sendable (HearthConnection) async throws(StatusError) -> ServerAnswer
    ) {
        let generation = userGeneration
        Task { [weak self, connection] in
            do throws(StatusError) {
                var rereads = 0
                while await self?.finish(reading, with: try operation(connection), to: query, generation, rereads) == false {
                    rereads += 1
                }
            } catch {
                reading.finish(.failure(error))
            }
        }
    }

    /// Returns false if the server has to be asked again.
    private func finish(
        _ reading: ServerReading,
        with answer: ServerAnswer,
        to query: ViewQuery,
        _ generation: UInt64,
        _ rereads: Int
    ) -> Bool {
        guard rereads == Self.maximumRereads || !isOlderThanAcknowledged(answer) else { return false }
        do throws(StatusError) {
            reading.finish(.success(try apply(answer, to: query, generation)))
        } catch {
            reading.finish(.failure(error))
        }
        return true
    }

    /// Returns whether a write of the queue was acknowledged as later than an answer: a result would have it neither as a local write
    /// nor from the server.
    private func isOlderThanAcknowledged(_ answer: ServerAnswer) -> Bool {
        guard let time = answer.time, let acknowledged else { return false }
        // The times of a server that was restored belong to another epoch.
        if let epoch = acknowledged.epoch, let current = answer.epoch, epoch != current { return false }
        return acknowledged.time > time
    }

    /// The number of times that the server is asked again. An older one that was restored to an earlier time may never be as late.
    private static var maximumRereads: Int { 3 }

    private func apply(
        _ answer: ServerAnswer,
        to query: ViewQuery,
        _ generation: UInt64
    ) throws(StatusError) -> SyncSnapshot {
        hasMissedAnswer = false
        guard !isTerminated else { throw .terminated }
        guard userGeneration == generation else { throw .userChanged }
        recordClock { $0.record(answer.time) }
        let event = RemoteEvent(time: answer.time, epoch: answer.epoch, documents: answer.documents)
        let (snapshot, effects) = try withEngine { (engine) throws(StatusError) in try engine.apply(event, answering: query) }
        add(effects)
        // The reader does not wait for a scan of the cache.
        let paths = Set(answer.documents.map(\.path))
        submit { $0.readChangedDocuments(of: query, except: paths, generation) }
        return SyncSnapshot(view: snapshot, damaged: answer.damaged)
    }

    /// Begins to read what the cache has in the result of a query and the server's answer has not.
    private func readChangedDocuments(of query: ViewQuery, except paths: Set<DocumentPath>, _ generation: UInt64) {
        scanInSteps { (engine, scan, maximumCount) throws(StatusError) in
            try engine.readChangedDocuments(of: query, except: paths, continuing: scan, maximumCount: maximumCount)
        } while: {
            $0.userGeneration == generation
        } completion: { client, result in
            switch result {
            case .success(let effects): client.add(effects)
            case .failure(let error): client.report(error)
            }
        }
    }
}

extension StatusError {
    fileprivate static let userChanged = StatusError(.cancelled, "The call was cancelled, since the user has changed.")
}

/// The server's answer to a read.
struct ServerAnswer: Sendable {
    var documents: [RemoteDocument] = []
    var time: Timestamp?
    /// The epoch of the history that the times belong to; `nil` if it is not known.
    var epoch: String?
    var damaged: [StatusError] = []
}

// MARK: Documents in limbo

extension SyncClient {
    /// Reads documents in limbo, until the server has answered or they are no longer in limbo.
    func readLimboDocuments(_ paths: [DocumentPath]) {
        let generation = userGeneration
        let id = nextID()
        limboReads[id] = Task { [weak self] in
            await self?.resolve(paths, generation)
            await self?.endLimboRead(id)
        }
    }

    private func endLimboRead(_ id: UInt64) {
        limboReads[id] = nil
    }

    private nonisolated func resolve(_ paths: [DocumentPath], _ generation: UInt64) async {
        var backoff = ExponentialBackoff()
        var paths = paths
        while !paths.isEmpty, !Task.isCancelled {
            do throws(StatusError) {
                let answer = try await connection.currentDocuments(at: paths)
                let event = RemoteEvent(
                    time: answer.time,
                    epoch: answer.epoch,
                    documents: answer.documents,
                    answeredReads: Set(paths)
                )
                guard await !receive(event, generation) else { return }
                // The cache could not store the answer.
                guard (try? await Task.sleep(for: backoff.nextDelay(atLeast: .seconds(1)))) != nil else { return }
            } catch {
                switch error.code {
                case .permissionDenied where !error.isServerUnreachable, .dataLoss, .invalidArgument, .resourceExhausted:
                    if error.retryAfter != nil { break }
                    guard paths.count == 1 else {
                        // One of them must not, or cannot, be read.
                        await resolve(Array(paths.prefix(paths.count / 2)), generation)
                        return await resolve(Array(paths.dropFirst(paths.count / 2)), generation)
                    }
                    let inaccessible = error.code == .permissionDenied ? Set(paths) : []
                    let event = RemoteEvent(answeredReads: Set(paths), inaccessible: inaccessible)
                    guard await !receive(event, generation) else { return }
                default:
                    break
                }
                guard (try? await Task.sleep(for: backoff.nextDelay(atLeast: error.retryAfter))) != nil else { return }
            }
            paths = await documentsInLimbo(among: paths, generation)
        }
    }

    private func documentsInLimbo(among paths: [DocumentPath], _ generation: UInt64) -> [DocumentPath] {
        guard !isTerminated, userGeneration == generation, engine.isNetworkEnabled else { return [] }
        let limbo = engine.limboDocuments
        return paths.filter { limbo.contains($0) }
    }

    /// Returns false if the cache could not store the event.
    private func receive(_ event: RemoteEvent, _ generation: UInt64) -> Bool {
        guard !isTerminated, userGeneration == generation else { return true }
        return perform { (engine) throws(StatusError) in try engine.apply(event) }
    }
}
