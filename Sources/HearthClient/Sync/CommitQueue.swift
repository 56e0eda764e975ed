internal import DocumentModel
internal import HearthTransport
internal import HearthWire
internal import StrictJSON
internal import SyncEngine
internal import UTF8Text

/// The batches that the engine wants to be sent, and the state of sending them.
struct CommitQueue {
    /// A batch with the identity of its commit.
    typealias Entry = (batch: MutationBatch, identity: BatchIdentity)

    /// The user for whom the batches are sent; `nil` without ID tokens.
    var user: IDTokenCache.User?
    /// The error of the last attempt; `nil` after a success.
    fileprivate(set) var lastError: StatusError?
    private var failures = FailurePeriod()
    private var waiting: [Entry] = []
    /// The number of the request under way or of the pause, which distinguishes answers to an abandoned one.
    fileprivate private(set) var number: UInt64 = 0
    private var state = State.idle
    fileprivate var backoff = ExponentialBackoff()
    /// False if the server, an older one, does not know identities.
    fileprivate private(set) var sendsIdentities = true
    /// True after a request that has failed as a whole: the next one has a single batch.
    private var sendsSingleBatch = false
    /// The client under whose identity the server has made a batch that it had not seen before; `nil` if there was none yet.
    ///
    /// Until then, the queue may have been set back, for example by a backup of the device, so that the server has other batches under its
    /// numbers. Of several batches in a request, it would refuse some and make those that follow.
    private var confirmedClient: CommitClientID?

    private enum State {
        case idle
        case sending
        case pausing
    }

    /// The maximum number of batches in a request.
    private static let maximumRequestCount = 10

    init(user: IDTokenCache.User?) {
        self.user = user
    }

    mutating func append(_ batch: MutationBatch, _ identity: BatchIdentity) {
        waiting.append((batch, identity))
    }

    /// The numbers of the batches that wait to be sent.
    fileprivate var waitingNumbers: [BatchNumber] { waiting.map(\.batch.number) }

    /// Abandons everything that waits or is under way, but not a pause.
    mutating func stop() {
        waiting = []
        guard state == .sending else { return }
        number += 1
        state = .idle
    }

    /// Forgets earlier failures, so that pauses are short again.
    mutating func resetBackoff() {
        backoff.reset()
        lastError = nil
        failures = FailurePeriod()
    }

    /// Records an answer of the server on a stream: it may be a newer one than before.
    mutating func serverAnswered() {
        sendsIdentities = true
    }

    /// The local time since which all attempts to send the first batch have failed; `nil` after a success.
    var failingSince: Timestamp? { failures.start }

    fileprivate var isPausing: Bool { state == .pausing }
    fileprivate var isSending: Bool { state == .sending }
    /// True if all unanswered batches are sent again after the request under way.
    fileprivate var resendsAfterRequest = false

    /// Returns the batches of the next request; `nil` if there are none, or another request or a pause is under way.
    fileprivate mutating func startRequest() -> [Entry]? {
        guard state == .idle, !waiting.isEmpty else { return nil }
        let isConfirmed = confirmedClient != nil && waiting.allSatisfy { $0.identity.client == confirmedClient }
        let count = sendsIdentities && !sendsSingleBatch && isConfirmed ? Self.maximumRequestCount : 1
        let entries = Array(waiting.prefix(count))
        waiting.removeFirst(entries.count)
        state = .sending
        number += 1
        return entries
    }

    /// Ends a request.
    ///
    /// - Parameter unsent: Those of its batches for which there was no room in it.
    fileprivate mutating func finishRequest(unsent: some Collection<Entry>) {
        waiting.insert(contentsOf: unsent, at: 0)
        state = .idle
    }

    fileprivate mutating func recordSuccess() {
        lastError = nil
        backoff.reset()
        sendsSingleBatch = false
    }

    /// Records that the first batch has left the queue.
    fileprivate mutating func recordProgress() {
        failures = FailurePeriod()
    }

    /// Records that the server has made a batch that it had not seen before, under the identity of a client.
    fileprivate mutating func recordCommit(of client: CommitClientID) {
        confirmedClient = client
    }

    fileprivate mutating func recordFailure(_ error: StatusError, ofRequest isOfRequest: Bool) {
        lastError = error
        ClientLog.debug("queued calls wait: \(error)")
        if isOfRequest { sendsSingleBatch = true }
        guard let minutes = failures.recordFailure(at: .now) else { return }
        ClientLog.write("warning: queued writes cannot be sent, and wait for \(minutes) minutes: \(error)")
    }

    fileprivate mutating func recordOlderServer() {
        sendsIdentities = false
    }

    fileprivate mutating func pause() {
        number += 1
        resendsAfterRequest = false
        state = .pausing
    }

    fileprivate mutating func endPause() {
        state = .idle
    }

    /// Checks that a batch of writes fits into a request.
    ///
    /// - Throws: `.invalidArgument` if it does not, so that the server would only refuse it.
    static func checkSize(of writes: [Write]) throws(StatusError) {
        // A byte of a value becomes at most six of JSON.
        guard MutationBatch.byteCount(of: writes) > RPCCall.maximumByteCount / 8 else { return }
        guard RPCCall.commit(writes, as: nil).byteCount > RPCCall.maximumByteCount else { return }
        throw StatusError(
            .invalidArgument,
            "The writes of a call are larger than \(RPCCall.maximumByteCount) bytes as JSON. Make several calls."
        )
    }
}

extension SyncClient {
    /// Sends the next batches, if no others are under way.
    func sendCommits() {
        guard let entries = commits.startRequest() else { return }
        let (number, user, sendsIdentities) = (commits.number, commits.user, commits.sendsIdentities)
        Task { [weak self, connection] in
            let batches = entries.map { (writes: $0.batch.writes, identity: sendsIdentities ? $0.identity : nil) }
            do throws(StatusError) {
                await self?.process(.success(try await connection.commit(batches, for: user)), to: entries, number)
            } catch {
                await self?.process(.failure(error), to: entries, number)
            }
        }
    }

    /// Processes the answers to the batches of a request, or to the first ones.
    private func process(
        _ answers: Result<[Result<CommitResponse, StatusError>], StatusError>,
        to entries: [CommitQueue.Entry],
        _ number: UInt64
    ) {
        flush()
        guard commits.number == number, !isTerminated else { return }
        switch answers {
        case .success(let answers):
            hasMissedAnswer = false
            ClientLog.debug("\(answers.count) queued calls were answered")
            let unmade = zip(entries, answers).filter { $1.isUnmade }.map(\.0.batch.number)
            engine.recordUnmade(unmade + entries.dropFirst(answers.count).map(\.batch.number) + commits.waitingNumbers)
            var hasProgressed = false
            for (entry, answer) in zip(entries, answers) {
                switch process(answer, to: entry) {
                case .processed:
                    hasProgressed = true
                    commits.recordProgress()
                case .restarted: return
                case .failed(let error): return resend(after: error, isImmediate: hasProgressed || error == nil)
                }
                guard commits.number == number else { return commits.recordSuccess() }
            }
            commits.recordSuccess()
            commits.finishRequest(unsent: entries.dropFirst(answers.count))
            if commits.resendsAfterRequest { resend(after: nil) } else { sendCommits() }
        case .failure(let error):
            let isUnsent = error.code == .unavailable && !error.isOutcomeUnknown || error.isExecuted == false
            engine.recordUnmade((isUnsent ? entries.map(\.batch.number) : []) + commits.waitingNumbers)
            commits.recordFailure(error, ofRequest: true)
            resend(after: error)
        }
    }

    private enum Step {
        /// The batch has left the queue.
        case processed
        /// The engine sends the batches anew.
        case restarted
        /// The batches must be sent again, because of an error if there is one.
        case failed(StatusError?)
    }

    private func process(_ answer: Result<CommitResponse, StatusError>, to entry: CommitQueue.Entry) -> Step {
        let (batch, identity) = entry
        do throws(StatusError) {
            let response = try answer.get()
            let result = BatchResult(
                commitTime: response.commitTime,
                results: response.hasDroppedResults ? [] : response.writeResults
            )
            let isStored = perform { (engine) throws(StatusError) in
                try engine.batchAcknowledged(batch.number, result, epoch: response.epoch)
            }
            guard isStored else { return .failed(.unstored) }
            acknowledged = (response.commitTime, response.epoch)
            if response.isReplayed {
                recordClock { $0.record(response.commitTime) }
            } else {
                recordClock { $0.record(commitTime: response.commitTime, at: .localTime) }
                commits.recordCommit(of: identity.client)
            }
            return .processed
        } catch {
            switch error.identityMismatch {
            case .gap?:
                return .failed(error)
            case .forgotten(expected: _?)?:
                // The server has had the number: of this batch, or of another one before the queue was set back.
                return reject(batch, .unknownOutcome)
            case .forgotten(expected: nil)?:
                let isRestarted = perform { (engine) throws(StatusError) in try engine.identityForgotten() }
                return isRestarted ? .restarted : .failed(.unstored)
            case .reused?:
                let isRestarted = perform { (engine) throws(StatusError) in try engine.identityReused() }
                return isRestarted ? .restarted : .failed(.unstored)
            case nil:
                break
            }
            if error.isAboutUnknownParameter(CommitKeys.identity) {
                commits.recordOlderServer()
                return .failed(nil)
            }
            // A Hearth server always knows the method.
            guard error.rejectsBatch, error.code != .unimplemented, !error.isServerUnreachable else { return .failed(error) }
            return reject(batch, error)
        }
    }

    private func reject(_ batch: MutationBatch, _ error: StatusError) -> Step {
        let isStored = perform { (engine) throws(StatusError) in try engine.batchRejected(batch.number, error) }
        return isStored ? .processed : .failed(.unstored)
    }

    /// Sends all unanswered batches again, after a pause unless the last request was successful in part.
    func resend(after error: StatusError?, isImmediate: Bool = false) {
        if let error { commits.recordFailure(error, ofRequest: false) }
        if isImmediate { commits.backoff.reset() }
        let delay = commits.backoff.nextDelay(atLeast: error?.retryAfter)
        commits.pause()
        let number = commits.number
        Task { [weak self] in
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            await self?.resumeCommits(number)
        }
    }

    /// Sends all unanswered batches again, after the request under way or the pause.
    func resendLater() {
        guard !commits.isPausing else { return }
        if commits.isSending { commits.resendsAfterRequest = true } else { resend(after: nil) }
    }

    private func resumeCommits(_ number: UInt64) {
        guard commits.number == number else { return }
        resumeCommits()
    }

    /// Ends a pause.
    func resumeCommits() {
        guard commits.isPausing, !isTerminated else { return }
        commits.endPause()
        if !perform({ (engine) throws(StatusError) in try engine.resendBatches() }) { resend(after: .unstored) }
    }
}

extension Result<CommitResponse, StatusError> {
    /// True if this attempt has certainly not made the commit.
    fileprivate var isUnmade: Bool {
        guard case .failure(let error) = self else { return false }
        return error.isDecided || error.isExecuted == false || error.identityMismatch != nil || error.code == .permissionDenied
    }
}

extension StatusError {
    /// The error of an answer that the cache cannot store. The server gives it again.
    fileprivate static var unstored: StatusError {
        StatusError(.unavailable, "The local cache cannot store the server's answer.")
    }

    /// The error of a batch whose number the server has had, without the answer.
    fileprivate static var unknownOutcome: StatusError {
        StatusError(
            .unknown,
            "The server no longer knows whether it has made these writes, or others in their place before the queue was set back. Read the "
                + "documents to find out."
        )
    }
}

extension RPCCall {
    /// Returns the call that makes a commit.
    fileprivate static func commit(_ writes: [Write], as identity: BatchIdentity?) -> RPCCall {
        RPCCall("documents.commit") { params in
            params.array(CommitKeys.writes, of: writes) { $0.write(to: &$1) }
            if let identity { params.identity(identity.client, identity.number, after: identity.after) }
        }
    }
}

extension HearthConnection {
    /// Makes commits in one request, in order.
    ///
    /// - Parameters:
    ///   - batches: The writes of the commits, with their identities; `nil` for a server that does not know these.
    ///   - user: The user for whom the commits are made; `nil` without ID tokens.
    /// - Returns: The answers to the commits, or to the first ones: the request has as many as fit into a mebibyte, and at least one.
    fileprivate func commit(
        _ batches: [(writes: [Write], identity: BatchIdentity?)],
        for user: IDTokenCache.User?
    ) async throws(StatusError) -> [Result<CommitResponse, StatusError>] {
        var calls: [RPCCall] = []
        var byteCount = 0
        for (writes, identity) in batches {
            let call = RPCCall.commit(writes, as: identity)
            byteCount += call.byteCount
            guard calls.isEmpty || byteCount <= 1 << 20 else { break }
            calls.append(call)
        }
        return try await call(calls, for: user).map { result in
            result.flatMap { json in
                Result { () throws(StatusError) in try CommitResponse(json: json) }.mapError { error in
                    // No verdict on the writes.
                    StatusError(.internal, "The server's answer to queued writes cannot be read: \(error.message)", cause: error)
                }
            }
        }
    }
}
