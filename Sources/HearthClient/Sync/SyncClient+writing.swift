internal import DocumentModel
internal import SyncEngine

extension SyncClient {
    @discardableResult
    nonisolated func write(
        _ writes: [Write],
        for user: UserID?,
        queued: (@Sendable (StatusError?) -> Void)?,
        completed: WriteCompletion?
    ) -> WriteID {
        let id = nextID()
        let localTime = Timestamp.localTime
        submit { client in
            do throws(StatusError) {
                try client.queue(writes, id, for: user, at: localTime, queued, completed)
            } catch {
                queued?(error)
                completed?.handler(error) {}
                // The error would otherwise go unnoticed.
                if queued == nil, completed == nil { ClientLog.write("write failed: \(error)") }
            }
        }
        return id
    }

    nonisolated func abandonWrite(_ id: WriteID) {
        submit { client in
            client.completions[id] = nil
            if let (batch, user) = client.untold.removeValue(forKey: id), user == client.engine?.user { client.report(batch) }
            guard !client.isTerminated else { return }
            client.engine.abandonWrite(id)
        }
    }

    private func queue(
        _ writes: [Write],
        _ id: WriteID,
        for user: UserID?,
        at localTime: Timestamp,
        _ queued: (@Sendable (StatusError?) -> Void)?,
        _ completed: WriteCompletion?
    ) throws(StatusError) {
        try checkQueueing(for: user)
        guard !writes.isEmpty else {
            queued?(nil)
            completed?.handler(nil) {}
            return
        }
        try CommitQueue.checkSize(of: writes)
        let (isAwaited, time) = (completed != nil, serverClock.time(at: localTime))
        let changes = try withEngine { (engine) throws(StatusError) in
            try engine.write(writes, isAwaited ? id : nil, at: time)
        }
        effects += changes
        completions[id] = completed
        if let queued { queuedHandlers.append(queued) }
        submitFlush()
    }

    /// Checks that writes of a user can be queued; `nil` for the current one.
    func checkQueueing(for user: UserID?) throws(StatusError) {
        guard !isTerminated else { throw .terminated }
        guard !isChangingUser else {
            throw StatusError(.unavailable, "The local cache cannot store the change of the user. Try again later.")
        }
        guard user == nil || user == engine.user else {
            throw StatusError(
                .failedPrecondition,
                "The writes are those of another user. Queue them when that user has signed in."
            )
        }
    }

    nonisolated func waitForPendingWrites(_ completion: @escaping @Sendable (StatusError?) -> Void) {
        let id = nextID()
        submit { client in
            let wait = CommonWait(count: 1 + client.abandonedQueues.count, completion)
            client.waits[id] = { wait.end($0) }
            do throws(StatusError) {
                try client.performThrowing(isRepeatable: true) { (engine) throws(StatusError) in
                    try engine.waitForPendingWrites(id)
                }
            } catch {
                client.waits[id] = nil
                wait.end(error)
            }
            // One that has ended has an empty queue.
            for session in client.abandonedQueues { session.waitForPendingWrites { _ in wait.end(nil) } }
        }
    }

    func queueStatus() async throws(StatusError) -> WriteQueueStatus {
        guard !isTerminated else { throw .terminated }
        let (state, oldest) = try withEngine { (engine) throws(StatusError) in
            (try engine.queueState(), try engine.oldestLocalTime())
        }
        var status = WriteQueueStatus(
            count: Int(clamping: state.count),
            byteCount: state.byteCount,
            oldestWriteTime: oldest,
            lastError: commits.lastError.map(FirestoreError.init),
            failingSince: commits.failingSince,
            isPersistent: isPersistent,
            problem: problem.map(FirestoreError.init)
        )
        for session in abandonedQueues {
            // One that has ended has an empty queue.
            if let other = try? await session.queueStatus() { status.add(other) }
        }
        return status
    }

    nonisolated func whenDrained(_ handler: @escaping @Sendable () -> Void) {
        submit { client in
            guard !client.isTerminated else { return handler() }
            client.drainHandlers.append(handler)
            client.endIfDrained()
        }
    }

    /// Calls the handlers that wait for the queue to be drained, if it is.
    func endIfDrained() {
        // An error of the cache is reported by the next input.
        guard (try? engine.queueState())?.isEmpty == true, (try? engine.rejectedBatches())?.isEmpty == true else { return }
        let handlers = drainHandlers
        drainHandlers = []
        for handler in handlers { handler() }
    }
}
