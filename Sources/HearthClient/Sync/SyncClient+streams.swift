internal import DocumentModel
internal import HearthTransport
internal import HearthWire
internal import SyncEngine

// The stream of all targets. Targets are added and removed by calls while it is open.
extension SyncClient {
    func openTarget(_ request: TargetRequest) {
        // A target that is opened anew needs another stream: for another user.
        if stream.id(of: request.id) != nil { stream.end() }
        stream.add(request)
        if stream.task == nil { startStream() } else { updateStream() }
    }

    func closeTarget(_ target: TargetID) {
        stream.remove(target)
        if stream.isEmpty { stream.end() } else { updateStream() }
    }

    private func startStream() {
        stream.begin()
        let (number, activity, ids) = (stream.number, stream.activity, stream.ids)
        let delay = stream.delay ?? .zero
        stream.delay = nil
        stream.task = Task { [weak self] in
            if delay > .zero { guard (try? await Task.sleep(for: delay)) != nil else { return } }
            await self?.runStream(number, activity, ids)
        }
        if streamWatch == nil {
            streamWatch = Task { [weak self] in
                while (try? await Task.sleep(for: .seconds(2))) != nil, await self?.closeSilentStream() == true {}
            }
        }
    }

    /// Closes the stream if it has been silent for longer than a server with a connection is. Returns whether there is a stream.
    private func closeSilentStream() -> Bool {
        if stream.activity.isSilent(for: Self.maximumSilence) { breakStream(nil) }
        if stream.task == nil { streamWatch = nil }
        return stream.task != nil
    }

    /// The seconds without changes after which a server sends a frame.
    private static var heartbeat: Int { 5 }
    private static var maximumSilence: Duration { .seconds(12) }

    private nonisolated func runStream(_ number: UInt64, _ activity: StreamActivity, _ ids: StreamTargetIDs) async {
        var hasOpened = false
        do throws(StatusError) {
            guard let targets = await takeRequests(number) else { return }
            let frames = try await connection.watch(targets, heartbeat: Self.heartbeat)
            hasOpened = true
            activity.record()
            guard await streamOpened(number) else { return }
            var decoder = RemoteEventDecoder(ids)
            for try await frame in frames {
                activity.record()
                if frame.kind == .open { await streamAnswered(frame.stream, number) }
                if frame.kind == .targetRemoved, let id = frame.target, let error = frame.targetError {
                    await targetEnded(ids[id]?.target, number, error)
                }
                if let update = try decoder.add(frame) { try await receive(update, number) }
                if let idToken = frames.idToken, frame.isTokenRefusal {
                    connection.refuse(idToken)
                    return await streamRefused(number, frame.error)
                }
                if let error = frame.error { throw error }
            }
            await streamEnded(number, nil, hasOpened: hasOpened)
        } catch {
            await streamEnded(number, error, hasOpened: hasOpened)
        }
    }

    /// Returns the targets with which a stream begins; `nil` if it is no longer wanted.
    private func takeRequests(_ number: UInt64) -> [IdentifiedWatchTarget]? {
        stream.number == number && stream.task != nil ? stream.takeRequests(opensStream: true) : nil
    }

    /// Returns whether the stream is still wanted.
    private func streamOpened(_ number: UInt64) -> Bool {
        guard stream.number == number else { return false }
        stream.refusal.streamOpened()
        return true
    }

    private func streamAnswered(_ id: String?, _ number: UInt64) {
        guard stream.number == number, stream.task != nil else { return }
        stream.id = id
        hasMissedAnswer = false
        ClientLog.debug("connected to \(connection.server)")
        perform { $0.streamAnswered() }
        commits.serverAnswered()
        // The server can be reached again, so a pause for lack of a connection ends.
        if let error = commits.lastError, error.isServerUnreachable, error.retryAfter == nil { resumeCommits() }
        updateStream()
    }

    private func receive(_ update: RemoteEventDecoder.Update, _ number: UInt64) throws(StatusError) {
        guard stream.number == number else { throw StatusError(.cancelled, "The stream is closed.") }
        let update = update.restricted(to: stream)
        let known = update.damaged.keys.map { ($0, stream.damaged(of: $0)) }
        for (target, damaged) in update.damaged { stream.setDamaged(damaged, of: target) }
        do throws(StatusError) {
            try performThrowing { (engine) throws(StatusError) in try engine.apply(update.event) }
        } catch {
            // The stream begins again at the last position that could be stored.
            if stream.number == number {
                for (target, damaged) in known { stream.setDamaged(damaged, of: target) }
            }
            report(error)
            throw StatusError(.unavailable, "The local cache cannot store what the server has sent.", cause: error)
        }
        recordClock { $0.record(update.event.time) }
        // A target that ends the stream again and again must not do so at once because others progress.
        if update.currentTargetCount == stream.requestedCount { stream.backoff.reset() }
        for (target, change) in update.event.targets where change.isCurrent { stream.recordProgress(of: target) }
        stream.refusal.streamProgressed()
    }

    /// Ends the stream of a user, so that the next one begins at once.
    func endStreamOfUser() {
        stream.end()
        stream.delay = nil
        stream.backoff.reset()
        stream.refusal = TokenRefusal()
    }

    /// Handles the end of a target. After an error that may pass it is added again; the others go on meanwhile.
    private func targetEnded(_ target: TargetID?, _ number: UInt64, _ error: StatusError) {
        guard let target, stream.number == number else { return }
        guard !error.isPermanent(hasOpened: true) else { return reject(target, error) }
        if !stream.isFailing(target) { ClientLog.write("a listener was interrupted, and is tried again: \(error)") }
        let delay = stream.pause(target, atLeast: error.retryAfter)
        perform { $0.targetInterrupted(target) }
        Task { [weak self] in
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            await self?.resumeTarget(target, number)
        }
    }

    private func resumeTarget(_ target: TargetID, _ number: UInt64) {
        guard stream.number == number, stream.isPaused(target) else { return }
        perform { $0.reopenTarget(target) }
    }

    /// Handles the end of the stream for its ID token.
    private func streamRefused(_ number: UInt64, _ error: StatusError?) {
        guard stream.number == number, stream.task != nil else { return }
        let isRepeated = stream.refusal.isRepeatedRefusal()
        if !stream.refusal.isImmediate { stream.backoff.reset() }
        isRepeated ? rejectAll(error ?? .tokenRefused) : breakStream(nil)
    }

    private func streamEnded(_ number: UInt64, _ error: StatusError?, hasOpened: Bool) {
        guard stream.number == number, stream.task != nil, !Task.isCancelled else { return }
        if let error, error.isPermanent(hasOpened: hasOpened), !error.isOfDeletedDatabase(hasOpened) {
            rejectAll(error)
        } else {
            breakStream(error)
        }
    }

    /// Ends the stream, and opens another one after a delay.
    private func breakStream(_ error: StatusError?) {
        ClientLog.debug("disconnected from \(connection.server)\(error.map { ": \($0)" } ?? "")")
        stream.end()
        stream.delay = stream.backoff.nextDelay(atLeast: error?.retryAfter)
        perform { $0.streamClosed() }
    }

    private func rejectAll(_ error: StatusError) {
        stream.end()
        for target in stream.targetIDs { reject(target, error) }
    }

    private func reject(_ target: TargetID, _ error: StatusError) {
        stream.forget(target)
        if stream.isEmpty { stream.end() }
        perform { $0.targetRejected(target, error) }
    }
}

// MARK: Changes of the targets

extension SyncClient {
    /// Begins to tell the server which targets were added and removed since the stream was opened.
    private func updateStream() {
        guard let id = stream.id, stream.update == nil else { return }
        let number = stream.number
        stream.update = Task { [weak self] in await self?.runUpdates(of: id, number) }
    }

    private func runUpdates(of id: String, _ number: UInt64) async {
        while stream.number == number {
            let (removed, added) = (stream.takeRemovedIDs(), stream.takeRequests())
            guard !removed.isEmpty || !added.isEmpty else { break }
            do throws(StatusError) {
                try await connection.updateTargets(ofStream: id, removing: removed, adding: added)
            } catch {
                // The stream has ended, perhaps unnoticed, or the server's answer was lost.
                if stream.number == number, stream.id != nil { breakStream(error) }
                return
            }
        }
        if stream.number == number { stream.update = nil }
    }
}

extension StatusError {
    /// Returns whether a stream or target that ended with the error would end with it again.
    fileprivate func isPermanent(hasOpened: Bool) -> Bool {
        guard !isServerUnreachable else { return false }
        // A target that is too large for one stream is too large for the next one.
        return !isTransient || hasOpened && code == .resourceExhausted
    }
}
