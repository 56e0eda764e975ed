import DocumentModel
import DocumentStore

/// The open transactions by ID, within their limits.
struct TransactionTable: Sendable {
    private let limits: TransactionLimits
    private var transactions: [TransactionID: OpenTransaction] = [:]
    /// The total number of recorded reads.
    private var readCount = 0
    private var lastSweep: ContinuousClock.Instant
    /// The number of transactions of each end user.
    private var endUserCounts: [Caller.Identity: Int] = [:]

    init(limits: TransactionLimits, at now: ContinuousClock.Instant) {
        self.limits = limits
        lastSweep = now
    }

    /// The number of transactions, including expired ones that have not been removed yet.
    var count: Int { transactions.count }

    /// Returns whether an unexpired transaction exists.
    mutating func hasOpenTransactions(at now: ContinuousClock.Instant) -> Bool {
        guard count > 0 else { return false }
        sweep(at: now, always: true)
        return count > 0
    }

    /// Adds a transaction with a new ID.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` if too many are open.
    mutating func insert(_ transaction: OpenTransaction, as id: TransactionID) throws(StatusError) {
        sweep(at: transaction.startTime)
        guard transactions.count < limits.maximumCount else {
            throw StatusError(
                .resourceExhausted,
                "\(limits.maximumCount) transactions are open, which is the maximum. Commit or roll back open transactions, or "
                    + "wait until they expire."
            )
        }
        try limitEndUser(transaction.owner, at: transaction.startTime)
        transactions[id] = transaction
        if transaction.owner.isEndUser { endUserCounts[transaction.owner, default: 0] += 1 }
    }

    /// Requires that an end user may open another transaction. All end users together leave half of the table to keys.
    private mutating func limitEndUser(_ owner: Caller.Identity, at now: ContinuousClock.Instant) throws(StatusError) {
        guard owner.isEndUser else { return }
        if isFull(for: owner) { sweep(at: now, always: true) }
        guard isFull(for: owner) else { return }
        throw StatusError(
            .resourceExhausted,
            "Too many transactions of end users are open. Commit or roll back open transactions, or wait until they expire."
        )
    }

    private func isFull(for owner: Caller.Identity) -> Bool {
        endUserCounts[owner, default: 0] >= limits.maximumCountPerEndUser
            || endUserCounts.values.reduce(0, +) >= limits.maximumCount / 2
    }

    /// Runs a closure on an open transaction and restarts its idle timeout.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the transaction is not open or belongs to another caller.
    mutating func withTransaction<Result>(
        _ id: TransactionID,
        of owner: Caller.Identity,
        at now: ContinuousClock.Instant,
        _ body: (inout OpenTransaction) -> Result
    ) throws(StatusError) -> Result {
        guard var transaction = transactions[id], transaction.owner == owner, !transaction.isExpired(at: now, limits) else {
            remove(id, of: owner)
            // Clients match these words: "expired or is no longer valid".
            throw StatusError(
                .invalidArgument,
                "The referenced transaction has expired or is no longer valid, or belongs to another database. Begin a new transaction and "
                    + "run it again."
            )
        }
        transaction.touch(at: now)
        // Removed from the dictionary, the read set is uniquely referenced and is changed in place.
        transactions[id] = nil
        defer { transactions[id] = transaction }
        return body(&transaction)
    }

    /// Records a read of a transaction.
    ///
    /// - Throws: The errors of ``withTransaction(_:of:at:_:)``; ``StatusCode/resourceExhausted``, with the transaction closed, if
    ///   it exceeds its read limit or all transactions together exceed theirs.
    mutating func recordRead(
        in id: TransactionID,
        of owner: Caller.Identity,
        at now: ContinuousClock.Instant,
        _ read: (inout ReadSet) -> Void
    ) throws(StatusError) {
        let (before, after) = try withTransaction(id, of: owner, at: now) { transaction in
            let before = transaction.reads.count
            transaction.recordRead(read)
            return (before, transaction.reads.count)
        }
        readCount += after - before
        guard after <= limits.maximumReads else {
            remove(id)
            throw StatusError(
                .resourceExhausted,
                "A transaction may read at most \(limits.maximumReads) documents and collections. Split it, or use a read-only transaction."
            )
        }
        if readCount > limits.maximumTotalReads { sweep(at: now, always: true) }
        guard readCount <= limits.maximumTotalReads else {
            remove(id)
            throw StatusError(
                .resourceExhausted,
                "The open transactions have reached their total read limit. Run the transaction again when others have ended."
            )
        }
    }

    /// Closes an open transaction and returns it.
    ///
    /// - Throws: The errors of ``withTransaction(_:of:at:_:)``.
    mutating func close(
        _ id: TransactionID,
        of owner: Caller.Identity,
        at now: ContinuousClock.Instant
    ) throws(StatusError) -> OpenTransaction {
        let transaction = try withTransaction(id, of: owner, at: now) { $0 }
        remove(id)
        return transaction
    }

    /// Closes a caller's transaction. Has no effect if it is not open.
    mutating func remove(_ id: TransactionID, of owner: Caller.Identity) {
        if transactions[id]?.owner == owner { remove(id) }
    }

    private mutating func remove(_ id: TransactionID) {
        guard let transaction = transactions.removeValue(forKey: id) else { return }
        readCount -= transaction.reads.count
        guard transaction.owner.isEndUser, let count = endUserCounts[transaction.owner] else { return }
        endUserCounts[transaction.owner] = count > 1 ? count - 1 : nil
    }

    /// Removes expired transactions, at most once per second unless `always` is set or the table is full.
    private mutating func sweep(at now: ContinuousClock.Instant, always: Bool = false) {
        guard always || now - lastSweep >= .seconds(1) || transactions.count >= limits.maximumCount else { return }
        lastSweep = now
        for (id, transaction) in transactions where transaction.isExpired(at: now, limits) { remove(id) }
    }
}
