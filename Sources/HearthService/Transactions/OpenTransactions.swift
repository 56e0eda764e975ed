import DocumentModel
import DocumentStore

/// The transactions that are open, by their names, within their limits.
struct OpenTransactions: Sendable {
    private let limits: TransactionLimits
    private var transactions: [TransactionID: Transaction] = [:]
    /// How much all of them have read.
    private var readCount = 0
    private var lastSweep: ContinuousClock.Instant

    init(limits: TransactionLimits, at now: ContinuousClock.Instant) {
        self.limits = limits
        lastSweep = now
    }

    /// How many there are, those included that have expired and were not looked at since.
    var count: Int { transactions.count }

    /// Whether there is one that has not expired.
    mutating func areOpen(at now: ContinuousClock.Instant) -> Bool {
        guard count > 0 else { return false }
        sweep(at: now, always: true)
        return count > 0
    }

    /// Adds a transaction.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` when there are too many.
    mutating func insert(_ transaction: Transaction) throws(StatusError) -> TransactionID {
        sweep(at: transaction.begun)
        guard transactions.count < limits.maximumCount else {
            throw StatusError(
                .resourceExhausted,
                "There are \(limits.maximumCount) open transactions, and no more at a time are allowed. Commit or roll back what "
                    + "is open, or wait until it expires."
            )
        }
        let id = TransactionID()
        transactions[id] = transaction
        return id
    }

    /// Lets a transaction be changed.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when it is not open, or another caller's.
    mutating func use<Result>(
        _ id: TransactionID,
        of owner: Caller.Identity,
        at now: ContinuousClock.Instant,
        _ body: (inout Transaction) -> Result
    ) throws(StatusError) -> Result {
        guard var transaction = transactions[id], transaction.owner == owner, !transaction.isExpired(at: now, limits) else {
            remove(id, of: owner)
            // Clients look for these words.
            throw StatusError(
                .invalidArgument,
                "The referenced transaction has expired or is no longer valid, or is one of another database. Begin a new one, and run "
                    + "all of it again."
            )
        }
        transaction.use(at: now)
        // So that changing its reads copies nothing.
        transactions[id] = nil
        defer { transactions[id] = transaction }
        return body(&transaction)
    }

    /// Notes what a transaction has read.
    ///
    /// - Throws: As ``use(_:of:at:_:)``; ``StatusCode/resourceExhausted`` when it, or all of them together, have read too much.
    ///   The transaction is closed then.
    mutating func note(
        in id: TransactionID,
        of owner: Caller.Identity,
        at now: ContinuousClock.Instant,
        _ read: (inout ReadSet) -> Void
    ) throws(StatusError) {
        let (before, after) = try use(id, of: owner, at: now) { transaction in
            let before = transaction.reads.count
            transaction.note(read)
            return (before, transaction.reads.count)
        }
        readCount += after - before
        guard after <= limits.maximumReads else {
            remove(id)
            throw StatusError(
                .resourceExhausted,
                "A transaction may read \(limits.maximumReads) documents and collections. Divide it, or read in a read-only one."
            )
        }
        if readCount > limits.maximumTotalReads { sweep(at: now, always: true) }
        guard readCount <= limits.maximumTotalReads else {
            remove(id)
            throw StatusError(
                .resourceExhausted,
                "All open transactions together have read as much as they may. Run this one again when others are done."
            )
        }
    }

    /// Closes a transaction that must be open, and gives what it has read.
    ///
    /// - Throws: As ``use(_:of:at:_:)``.
    mutating func finish(
        _ id: TransactionID,
        of owner: Caller.Identity,
        at now: ContinuousClock.Instant
    ) throws(StatusError) -> Transaction {
        let transaction = try use(id, of: owner, at: now) { $0 }
        remove(id)
        return transaction
    }

    /// Closes a caller's transaction; without effect when it is not open.
    mutating func remove(_ id: TransactionID, of owner: Caller.Identity) {
        if transactions[id]?.owner == owner { remove(id) }
    }

    private mutating func remove(_ id: TransactionID) {
        let transaction = transactions.removeValue(forKey: id)
        readCount -= transaction?.reads.count ?? 0
    }

    /// Closes what has expired, once a second at most unless it matters.
    private mutating func sweep(at now: ContinuousClock.Instant, always: Bool = false) {
        guard always || now - lastSweep >= .seconds(1) || transactions.count >= limits.maximumCount else { return }
        lastSweep = now
        for (id, transaction) in transactions where transaction.isExpired(at: now, limits) { remove(id) }
    }
}
