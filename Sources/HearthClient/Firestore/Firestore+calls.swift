internal import Dispatch
internal import DocumentModel
internal import HearthTransport

extension Firestore {
    /// Commits writes atomically, after all queued writes.
    ///
    /// With a local cache, returns when the server has answered. A cancellation ends that wait, not the write: if it is rejected, it is one of
    /// the ``rejectedWrites``.
    func commit(_ writes: [Write]) async throws {
        if let session = try session() { return try await commit(writes, in: session) }
        let user = user
        await self.writes.waitForPending()
        // For the user for whom the writes were made; `nil` without ID tokens.
        _ = try await call { connection throws(StatusError) in try await connection.commit(writes, in: nil, for: user) }
    }

    private func commit(_ writes: [Write], in session: any SyncSession) async throws {
        let (results, result) = AsyncStream.makeStream(of: (error: StatusError?, told: @Sendable () -> Void).self)
        let completion = WriteCompletion(endsWithSession: true) { error, told in
            result.yield((error, told))
            result.finish()
        }
        let id = session.write(writes, for: nil, queued: nil, completed: completion)
        for await (error, told) in results {
            told()
            guard let error else { return }
            throw FirestoreError(error)
        }
        session.abandonWrite(id)
        throw FirestoreError(.cancelledWait)
    }

    /// Queues writes, and returns when they are in the queue.
    func queue(_ writes: [Write]) async throws {
        let session = try firestoreErrors { () throws(StatusError) in try requireSession() }
        try await wait { completion in session.write(writes, for: nil, queued: completion, completed: nil) }
    }

    /// Waits until the completion that `start` is given has been called, or until the task is cancelled.
    func wait(_ start: (@escaping @Sendable (StatusError?) -> Void) -> Void) async throws {
        let (results, result) = AsyncStream.makeStream(of: StatusError?.self)
        start { error in
            result.yield(error)
            result.finish()
        }
        for await error in results {
            guard let error else { return }
            throw FirestoreError(error)
        }
        throw FirestoreError(.cancelledWait)
    }

    /// Queues writes, commits them in the order of the calls, and calls `completion`.
    func enqueue(
        _ writes: @autoclosure () throws(StatusError) -> [Write],
        _ completion: (((any Error)?) -> Void)?
    ) {
        let writes = Result { () throws(StatusError) in try writes() }
        let completion = completion.map(UncheckedSendable.init)
        let queue = callbackQueue
        if case .success(let writes) = writes, let session = try? session() {
            let completed = completion.map { completion in
                WriteCompletion(endsWithSession: false) { error, told in
                    let failure = error.map { FirestoreError($0) }
                    queue.async {
                        completion.value(failure)
                        told()
                    }
                }
            }
            session.write(writes, for: nil, queued: nil, completed: completed)
            return
        }
        // A termination that follows waits for the write.
        let connection = Result { () throws(StatusError) in try self.connection() }
        let user = user
        self.writes.enqueue {
            var failure: FirestoreError?
            do throws(StatusError) {
                _ = try await connection.get().commit(writes.get(), in: nil, for: user)
            } catch {
                failure = FirestoreError(error)
            }
            if let completion {
                let failure = failure
                queue.async { completion.value(failure) }
            } else if let failure {
                // The error would otherwise go unnoticed.
                ClientLog.write("write failed: \(failure)")
            }
        }
    }

    /// Runs an operation after all queued writes.
    func read<Result: Sendable>(
        _ operation: (HearthConnection) async throws(StatusError) -> Result
    ) async throws -> Result {
        await writes.waitForPending()
        return try await call(operation)
    }

    /// Runs an operation and converts its error to a ``FirestoreError``.
    func call<Result>(_ operation: (HearthConnection) async throws(StatusError) -> Result) async throws -> Result {
        do throws(StatusError) {
            return try await operation(connection())
        } catch {
            throw FirestoreError(error)
        }
    }

    /// Runs an operation in an unstructured task and calls `completion` on the callback queue.
    func callBack<Result: Sendable>(
        _ completion: @escaping (Result?, (any Error)?) -> Void,
        _ operation: @escaping @Sendable () async throws -> Result
    ) {
        let completion = UncheckedSendable(completion)
        let queue = callbackQueue
        Task {
            do {
                let result = try await operation()
                queue.async { completion.value(result, nil) }
            } catch {
                queue.async { completion.value(nil, error) }
            }
        }
    }

    /// Runs an operation without a result in an unstructured task and calls `completion` on the callback queue.
    func callBack(_ completion: (((any Error)?) -> Void)?, _ operation: @escaping @Sendable () async throws -> Void) {
        callBack({ _, error in completion?(error) }, operation)
    }

    /// Waits until the server has answered all queued writes. Without a local cache, writes made without `await` are queued.
    ///
    /// - Throws: ``FirestoreErrorCode/cancelled`` if the task is cancelled or, with a local cache, if the user changes.
    nonisolated(nonsending) public func waitForPendingWrites() async throws {
        guard let session = try session() else { return await writes.waitForPending() }
        try await wait { completion in session.waitForPendingWrites(completion) }
    }

    /// Calls `completion` when all writes that were queued before this call have completed.
    public func waitForPendingWrites(completion: @escaping ((any Error)?) -> Void) {
        // Not in a task: the order of the calls decides which writes, and of which user, are waited for.
        let completion = UncheckedSendable(completion)
        let queue = callbackQueue
        let deliver: @Sendable (FirestoreError?) -> Void = { error in queue.async { completion.value(error) } }
        do throws(FirestoreError) {
            guard let session = try session() else { return writes.afterPending { deliver(nil) } }
            session.waitForPendingWrites { error in deliver(error.map { FirestoreError($0) }) }
        } catch {
            deliver(error)
        }
    }
}

extension StatusError {
    /// The error of a wait that was cancelled.
    fileprivate static var cancelledWait: StatusError {
        StatusError(.cancelled, "The wait was cancelled. The writes stay in the queue.")
    }
}

/// Transfers a user's callback or its result to the callback queue.
// Sendable: the value is only accessed on the queue that the user has chosen for it.
struct UncheckedSendable<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
