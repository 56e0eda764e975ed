internal import DocumentModel
internal import SyncEngine

extension SyncClient {
    nonisolated func addRejectionHandler(_ handler: RejectionHandler) -> ListenerID {
        let id = nextID()
        submit { client in
            guard !client.isTerminated else { return handler.end() }
            client.rejectionHandlers[id] = handler
            client.repeatRejections(to: handler)
            // It outlives them.
            let forwarded = RejectionHandler(receive: handler.receive, end: {})
            client.forwardedHandlers[id] = client.abandonedQueues.map { ($0, $0.addRejectionHandler(forwarded)) }
        }
        return id
    }

    /// Calls a handler for the rejected batches of the user that the application has not seen.
    func repeatRejections(to handler: RejectionHandler) {
        do throws(StatusError) {
            let user = engine.user
            let untold = Set(untold.values.lazy.filter { $0.user == user }.map(\.batch.number))
            for batch in try engine.rejectedBatches() where !untold.contains(batch.number) { handler.receive(batch, user, self) }
        } catch {
            report(error)
        }
    }

    nonisolated func removeRejectionHandler(_ id: ListenerID) {
        submit { client in
            client.rejectionHandlers[id] = nil
            for (session, id) in client.forwardedHandlers.removeValue(forKey: id) ?? [] { session.removeRejectionHandler(id) }
        }
    }

    nonisolated func removeRejectedBatch(_ number: BatchNumber, of user: UserID) {
        submit { $0.forget(number, of: user) }
    }

    func forget(_ number: BatchNumber, of user: UserID) {
        guard !isTerminated else { return }
        do throws(StatusError) {
            try withEngine { (engine) throws(StatusError) in try engine.removeRejectedBatch(number, of: user) }
        } catch {
            report(error)
        }
        submitFlush()
    }

    nonisolated func resendRejectedBatch(
        _ number: BatchNumber,
        of user: UserID,
        queued: @escaping @Sendable (StatusError?) -> Void
    ) {
        let localTime = Timestamp.localTime
        submit { client in
            do throws(StatusError) {
                try client.checkQueueing(for: user)
                let time = client.serverClock.time(at: localTime)
                let changes = try client.withEngine { (engine) throws(StatusError) in
                    try engine.resendRejectedBatch(number, at: time)
                }
                client.effects += changes
                client.queuedHandlers.append(queued)
                client.submitFlush()
            } catch {
                queued(error)
            }
        }
    }
}
