package import DocumentModel
package import DocumentStore
import Synchronization

/// The transactions that are open.
///
/// Nothing is locked: a transaction's reads show the database as of one time and are noted, and its commit is refused when any
/// of what it has read has changed. So all transactions that commit could have run one after the other, nobody waits for
/// anybody, and of those that compete somebody always commits; the others are told when to try again.
///
/// They are kept in memory. One that is not used, or takes too long, expires; after a restart of the server all are gone, and
/// their clients begin anew.
package final class Transactions: Sendable {
    private let open: Mutex<OpenTransactions>
    private let contention = Mutex(Contention())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Makes an empty registry.
    ///
    /// - Parameter now: The clock by which transactions expire.
    package init(
        limits: TransactionLimits = TransactionLimits(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.now = now
        open = Mutex(OpenTransactions(limits: limits, at: now()))
    }

    /// How many are open, those included that have expired and were not looked at since.
    package var count: Int {
        open.withLock { $0.count }
    }

    /// Whether any is open that has not expired.
    var areOpen: Bool {
        open.withLock { [now = now()] in $0.areOpen(at: now) }
    }

    /// Opens a transaction, which is its owner's alone.
    func begin(_ mode: Transaction.Mode, for owner: Caller.Identity = .program) throws(StatusError) -> TransactionID {
        let transaction = Transaction(mode, of: owner, at: now())
        return try open.withLock { open throws(StatusError) in try open.insert(transaction) }
    }

    /// Closes a transaction; without effect when it is closed already.
    func rollback(_ id: TransactionID, for owner: Caller.Identity = .program) {
        open.withLock { open in open.remove(id, of: owner) }
    }

    /// What a transaction may do, and what its reads show where one has chosen that.
    func state(
        of id: TransactionID,
        for owner: Caller.Identity = .program
    ) throws(StatusError) -> (mode: Transaction.Mode, snapshot: Snapshot?) {
        try use(id, of: owner) { ($0.mode, $0.snapshot) }
    }

    /// Chooses what the reads of a transaction show, unless that has been chosen; returns what they show.
    func pin(
        _ snapshot: Snapshot,
        in id: TransactionID,
        for owner: Caller.Identity = .program
    ) throws(StatusError) -> Snapshot {
        try use(id, of: owner) { $0.pin(snapshot) }
    }

    /// Notes a read. The caller gets to see it only afterwards, so that nothing is seen that its commit does not check.
    func note(
        in id: TransactionID,
        for owner: Caller.Identity = .program,
        _ read: (inout ReadSet) -> Void
    ) throws(StatusError) {
        let now = now()
        try open.withLock { open throws(StatusError) in try open.note(in: id, of: owner, at: now, read) }
    }

    /// Closes a transaction with its writes; whatever comes of them, it is closed.
    ///
    /// - Throws: ``StatusCode/aborted`` with advice when to run it again, when something that it has read has changed;
    ///   ``StatusCode/invalidArgument`` when it may not write; what the store's commit throws.
    package func commit(
        _ id: TransactionID,
        _ writes: [Write],
        for owner: Caller.Identity = .program,
        to store: any DocumentStore
    ) async throws(StatusError) -> CommitResult {
        let now = now()
        let transaction = try open.withLock { open throws(StatusError) in try open.finish(id, of: owner, at: now) }
        if case .readOnly = transaction.mode, !writes.isEmpty {
            throw StatusError(.invalidArgument, "The transaction is read-only, so it takes no writes. Begin it with readWrite.")
        }
        do throws(StatusError) {
            return try await store.commit(writes, validating: transaction.reads, by: owner.keyID)
        } catch {
            guard error.code == .aborted else { throw error }
            var error = error
            // Without the time that the commit takes: those that compete wait for the disk together.
            let attempt = min(transaction.firstRead ?? now, now)..<now
            let (place, end) = (error.path ?? "", self.now())
            error.retryAfter = contention.withLock { $0.turn(at: place, after: attempt, now: end) }
            throw error
        }
    }

    private func use<Result: Sendable>(
        _ id: TransactionID,
        of owner: Caller.Identity,
        _ body: (inout Transaction) -> Result
    ) throws(StatusError) -> Result {
        let now = now()
        return try open.withLock { open throws(StatusError) in try open.use(id, of: owner, at: now, body) }
    }
}
