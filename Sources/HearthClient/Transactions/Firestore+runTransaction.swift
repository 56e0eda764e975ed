internal import DocumentModel
public import Foundation

#if !canImport(ObjectiveC)
/// The pointer through which an update block returns an error.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif

extension Firestore {
    /// Runs a transaction.
    ///
    /// If a document read by the closure changes before the commit, if the server refuses a call for a time, or if a read gets no answer, the
    /// closure is called again, up to five times in total, so it should not have side effects, such as other writes. While many calls
    /// fail, it is called less often, so that the attempts of many clients do not add to the load. If it throws another error, the
    /// transaction is rolled back.
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
        await writes.waitForPending()
        var attempt = 1
        while true {
            let transaction = Transaction(self)
            let start = ContinuousClock.now
            var isCommitting = false
            do {
                let result = try await body(transaction)
                isCommitting = true
                try await transaction.commit()
                return result
            } catch {
                transaction.rollBack()
                guard attempt < maxAttempts, Self.isRetryable(error, ofCommit: isCommitting) else { throw error }
                let isConflict = FirestoreErrorCode(error)?.code == .aborted
                // An attempt that has not reached the server is no load for it.
                let isUndelivered = (error as? FirestoreError)?.status.isUndelivered == true
                guard isConflict || isUndelivered || (try? connection())?.retryBudget.take() == true else { throw error }
                var generator = SystemRandomNumberGenerator()
                // A server that cannot be reached may be starting, however long it took to find that out.
                let delay = TransactionBackoff.delay(
                    after: attempt,
                    lasting: isConflict ? ContinuousClock.now - start : .milliseconds(100),
                    atLeast: (error as? FirestoreError)?.status.retryAfter ?? .zero,
                    using: &generator
                )
                try await Task.sleep(for: delay)
                attempt += 1
            }
        }
    }
}

extension Firestore {
    /// Returns whether a transaction that has failed may succeed when it is run again.
    ///
    /// - Parameter isOfCommit: True if the error is that of the commit, which may have taken effect if it has no answer.
    private static func isRetryable(_ error: any Error, ofCommit isOfCommit: Bool) -> Bool {
        if let status = (error as? FirestoreError)?.status {
            if let delay = status.retryAfter, delay > maximumRetryDelay { return false }
            // The server has refused the call before executing it.
            if status.isExecuted == false, status.retryAfter != nil { return true }
        }
        switch FirestoreErrorCode(error)?.code {
        case .aborted: return true
        case .unavailable, .internal, .deadlineExceeded: return !isOfCommit
        default: return false
        }
    }

    /// The delay up to which a server that refuses a call is asked again.
    private static var maximumRetryDelay: Duration { .seconds(60) }
}
