internal import Dispatch
internal import DocumentModel
internal import Foundation

extension Firestore {
    /// Carries out writes together, after those that nobody waits for.
    func commit(_ writes: [Write]) async throws {
        await self.writes.settle()
        try await commitNow(writes)
    }

    private func commitNow(_ writes: [Write]) async throws {
        _ = try await call { connection throws(StatusError) in try await connection.commit(writes) }
    }

    /// Carries out writes in the order of calls like this one, and calls back.
    func enqueue(
        _ writes: @autoclosure () throws(StatusError) -> [Write],
        _ completion: (((any Error)?) -> Void)?
    ) {
        let writes = Result { () throws(StatusError) in try writes() }
        let completion = completion.map(Unchecked.init)
        let queue = callbackQueue
        self.writes.enqueue {
            var failure: (any Error)?
            do {
                try await self.commitNow(writes.get())
            } catch let error as StatusError {
                failure = FirestoreError(error)
            } catch {
                failure = error
            }
            if let completion {
                let failure = failure
                queue.async { completion.value(failure) }
            } else if let failure {
                // Nobody else would ever know.
                FileHandle.standardError.write(Data("HearthClient: a write has failed: \(failure)\n".utf8))
            }
        }
    }

    /// Runs an operation after the writes that nobody waits for.
    func read<Result: Sendable>(
        _ operation: (HearthConnection) async throws(StatusError) -> Result
    ) async throws -> Result {
        await writes.settle()
        return try await call(operation)
    }

    /// Runs an operation, and makes its error one of Firestore's.
    func call<Result>(_ operation: (HearthConnection) async throws(StatusError) -> Result) async throws -> Result {
        do throws(StatusError) {
            return try await operation(connection())
        } catch {
            throw FirestoreError(error)
        }
    }

    /// Runs an operation in a task of its own, and calls back.
    func callBack<Result: Sendable>(
        _ completion: @escaping (Result?, (any Error)?) -> Void,
        _ operation: @escaping @Sendable () async throws -> Result
    ) {
        let completion = Unchecked(completion)
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

    /// Runs an operation without result in a task of its own, and calls back.
    func callBack(_ completion: (((any Error)?) -> Void)?, _ operation: @escaping @Sendable () async throws -> Void) {
        callBack({ _, error in completion?(error) }, operation)
    }

    /// Waits until all writes that were called without `await` have been answered.
    nonisolated(nonsending) public func waitForPendingWrites() async throws {
        await writes.settle()
    }

    /// Calls back once all writes that were called without `await` have been answered.
    public func waitForPendingWrites(completion: @escaping ((any Error)?) -> Void) {
        callBack(completion) { try await self.waitForPendingWrites() }
    }
}

/// Carries what a user has given to the queue on which the user has asked to be called.
// Nobody looks at it on the way, and there it is at home: that is what the user has chosen the queue for.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
