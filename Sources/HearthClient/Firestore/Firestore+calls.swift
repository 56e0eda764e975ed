internal import Dispatch
internal import DocumentModel
internal import Foundation

extension Firestore {
    /// Commits writes atomically, after all queued writes.
    func commit(_ writes: [Write]) async throws {
        let user = user
        await self.writes.waitForPending()
        try await commitNow(writes, for: user)
    }

    /// - Parameter user: The user for whom the writes were made; `nil` without ID tokens.
    private func commitNow(_ writes: [Write], for user: IDTokenCache.User?) async throws {
        _ = try await call { connection throws(StatusError) in try await connection.commit(writes, in: nil, for: user) }
    }

    /// Queues writes, commits them in the order of the calls, and calls `completion`.
    func enqueue(
        _ writes: @autoclosure () throws(StatusError) -> [Write],
        _ completion: (((any Error)?) -> Void)?
    ) {
        let writes = Result { () throws(StatusError) in try writes() }
        let completion = completion.map(UncheckedSendable.init)
        let queue = callbackQueue
        let user = user
        self.writes.enqueue {
            var failure: (any Error)?
            do {
                try await self.commitNow(writes.get(), for: user)
            } catch let error as StatusError {
                failure = FirestoreError(error)
            } catch {
                failure = error
            }
            if let completion {
                let failure = failure
                queue.async { completion.value(failure) }
            } else if let failure {
                // The error would otherwise go unnoticed.
                FileHandle.standardError.write(Data("HearthClient: write failed: \(failure)\n".utf8))
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

    /// Waits until all queued writes have completed. Writes made without `await` are queued.
    nonisolated(nonsending) public func waitForPendingWrites() async throws {
        await writes.waitForPending()
    }

    /// Calls `completion` when all queued writes have completed.
    public func waitForPendingWrites(completion: @escaping ((any Error)?) -> Void) {
        callBack(completion) { try await self.waitForPendingWrites() }
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
