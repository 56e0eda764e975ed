internal import DocumentModel
public import Foundation

#if !canImport(ObjectiveC)
/// The pointer through which an update block returns an error.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif

extension Firestore {
    /// Runs a transaction.
    ///
    /// If a document read by the closure changes before the commit, the closure is called again, up to five times in total, so
    /// it should not have side effects. If it throws an error, the transaction is rolled back.
    ///
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure, or a ``FirestoreError``: ``FirestoreErrorCode/aborted`` if all attempts fail because of
    ///   concurrent changes.
    nonisolated(nonsending) public func runTransaction<Result>(
        with options: TransactionOptions? = nil,
        _ body: nonisolated(nonsending) (Transaction) async throws -> Result
    ) async throws -> Result {
        try await runTransaction(maxAttempts: options?.maxAttempts, body)
    }

    /// Runs a transaction with a synchronous block, which returns an error through a pointer.
    ///
    /// The block runs on a separate thread, which its reads block. Otherwise like ``runTransaction(with:_:)``.
    ///
    /// - Returns: The result of the block.
    nonisolated(nonsending) public func runTransaction(
        _ updateBlock: @escaping (Transaction, NSErrorPointer) -> Any?
    ) async throws -> Any? {
        try await runTransaction(maxAttempts: nil, asynchronous(updateBlock))
    }

    /// Runs a transaction with a synchronous block and calls `completion` with its result.
    public func runTransaction(
        _ updateBlock: @escaping (Transaction, NSErrorPointer) -> Any?,
        completion: @escaping (Any?, (any Error)?) -> Void
    ) {
        runTransaction(with: nil, block: updateBlock, completion: completion)
    }

    /// Runs a transaction with a synchronous block and calls `completion` with its result.
    public func runTransaction(
        with options: TransactionOptions?,
        block: @escaping (Transaction, NSErrorPointer) -> Any?,
        completion: @escaping (Any?, (any Error)?) -> Void
    ) {
        let maxAttempts = options?.maxAttempts
        let block = UncheckedSendable(block)
        let unwrap = { (result: UncheckedSendable<Any?>?, error: (any Error)?) in completion(result?.value, error) }
        callBack(unwrap) {
            UncheckedSendable(try await self.runTransaction(maxAttempts: maxAttempts, self.asynchronous(block.value)))
        }
    }
}

extension Firestore {
    private static let transactionStackBytes = 1 << 20

    /// Returns an asynchronous function that runs a block on a thread of its own, which its reads may block: neither Swift's tasks nor
    /// Dispatch's queues have threads to spare for that.
    private func asynchronous(
        _ block: @escaping (Transaction, NSErrorPointer) -> Any?
    ) -> nonisolated(nonsending) (Transaction) async throws -> Any? {
        let block = UncheckedSendable(block)
        return { transaction in
            let result = await withCheckedContinuation { continuation in
                let thread = Thread {
                    var error: NSError?
                    let value = block.value(transaction, &error)
                    continuation.resume(returning: UncheckedSendable((value: value, error: error)))
                }
                thread.stackSize = Self.transactionStackBytes
                thread.start()
            }
            if let error = result.value.error { throw error }
            return result.value.value
        }
    }

    nonisolated(nonsending) private func runTransaction<Result>(
        maxAttempts: Int?,
        _ body: nonisolated(nonsending) (Transaction) async throws -> Result
    ) async throws -> Result {
        let maxAttempts = maxAttempts ?? 5
        precondition(maxAttempts > 0, "Invalid value for maxAttempts: \(maxAttempts). Must be greater than 0.")
        await writes.waitForPending()
        var attempt = 1
        while true {
            let transaction = Transaction(self)
            let start = ContinuousClock.now
            do {
                let result = try await body(transaction)
                try await transaction.commit()
                return result
            } catch {
                transaction.rollBack()
                guard attempt < maxAttempts, let error = error as? FirestoreError,
                    let delay = error.retryDelay(after: attempt, lasting: ContinuousClock.now - start)
                else {
                    throw error
                }
                try await Task.sleep(for: delay)
                attempt += 1
            }
        }
    }
}

extension StatusError {
    /// True if the server has refused the call before executing it, and says to try again soon.
    fileprivate var isRefusal: Bool { isExecuted == false && retryAfter.map { $0 <= .seconds(60) } ?? false }
}

extension FirestoreError {
    /// Returns the delay before the next attempt; `nil` if the error is not retryable.
    ///
    /// - Parameter duration: The time that the attempt has taken.
    fileprivate func retryDelay(after attempt: Int, lasting duration: Duration) -> Duration? {
        guard status.code == .aborted || status.isRefusal else { return nil }
        var generator = SystemRandomNumberGenerator()
        let minimum = status.retryAfter ?? .zero
        return TransactionBackoff.delay(after: attempt, lasting: duration, atLeast: minimum, using: &generator)
    }
}
