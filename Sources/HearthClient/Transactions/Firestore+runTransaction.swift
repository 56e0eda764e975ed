internal import Dispatch
internal import DocumentModel
public import Foundation

#if !canImport(ObjectiveC)
/// Where a block puts the error that it ends with.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif

extension Firestore {
    /// Runs reads and writes that happen at one time.
    ///
    /// What the block has read has not changed when its writes are carried out; if it has, the block is run again, five times
    /// at most, so that it should do nothing else. An error that it throws ends the transaction without a write.
    ///
    /// - Returns: What the block has returned.
    /// - Throws: What the block has thrown, or a ``FirestoreError``: ``FirestoreErrorCode/aborted`` when what was read has
    ///   changed each time.
    nonisolated(nonsending) public func runTransaction<Result>(
        with options: TransactionOptions? = nil,
        _ body: nonisolated(nonsending) (Transaction) async throws -> Result
    ) async throws -> Result {
        try await runTransaction(maxAttempts: options?.maxAttempts, body)
    }

    /// Runs a block as a transaction, with an error of its own in the pointer when it gives up.
    ///
    /// The block runs on a thread of its own, where its reads may wait. The rules are those of the other form.
    ///
    /// - Returns: What the block has returned.
    nonisolated(nonsending) public func runTransaction(
        _ updateBlock: @escaping (Transaction, NSErrorPointer) -> Any?
    ) async throws -> Any? {
        try await runTransaction(maxAttempts: nil, onThread(updateBlock))
    }

    /// Runs a block as a transaction, and calls back with what it has returned.
    public func runTransaction(
        _ updateBlock: @escaping (Transaction, NSErrorPointer) -> Any?,
        completion: @escaping (Any?, (any Error)?) -> Void
    ) {
        runTransaction(with: nil, block: updateBlock, completion: completion)
    }

    /// Runs a block as a transaction, and calls back with what it has returned.
    public func runTransaction(
        with options: TransactionOptions?,
        block: @escaping (Transaction, NSErrorPointer) -> Any?,
        completion: @escaping (Any?, (any Error)?) -> Void
    ) {
        let maxAttempts = options?.maxAttempts
        let block = Unchecked(block)
        let unwrap = { (result: Unchecked<Any?>?, error: (any Error)?) in completion(result?.value, error) }
        callBack(unwrap) {
            Unchecked(try await self.runTransaction(maxAttempts: maxAttempts, self.onThread(block.value)))
        }
    }
}

extension Firestore {
    private static let transactionQueue = DispatchQueue(label: "hearth.client.transactions", attributes: .concurrent)

    /// The block as a function that waits for it without holding up a thread of Swift's.
    private func onThread(
        _ block: @escaping (Transaction, NSErrorPointer) -> Any?
    ) -> nonisolated(nonsending) (Transaction) async throws -> Any? {
        let block = Unchecked(block)
        return { transaction in
            let outcome = await withCheckedContinuation { continuation in
                Self.transactionQueue.async {
                    var error: NSError?
                    let result = block.value(transaction, &error)
                    continuation.resume(returning: Unchecked((result: result, error: error)))
                }
            }
            if let error = outcome.value.error { throw error }
            return outcome.value.result
        }
    }

    nonisolated(nonsending) private func runTransaction<Result>(
        maxAttempts: Int?,
        _ body: nonisolated(nonsending) (Transaction) async throws -> Result
    ) async throws -> Result {
        let maxAttempts = maxAttempts ?? 5
        precondition(maxAttempts > 0, "Invalid value for maxAttempts: \(maxAttempts). Must be greater than 0.")
        await writes.settle()
        var attempt = 1
        while true {
            let transaction = Transaction(self)
            do {
                let result = try await body(transaction)
                try await transaction.commit()
                return result
            } catch {
                transaction.rollBack()
                guard attempt < maxAttempts, let error = error as? FirestoreError, let wait = error.wait(after: attempt) else {
                    throw error
                }
                try await Task.sleep(for: wait)
                attempt += 1
            }
        }
    }
}

extension FirestoreError {
    /// How long to wait before a transaction is tried again; nil when that can't help.
    fileprivate func wait(after attempt: Int) -> Duration? {
        guard status.code == .aborted else { return nil }
        return status.retryAfter ?? .milliseconds(Int.random(in: 1...(8 << min(attempt, 8))))
    }
}
