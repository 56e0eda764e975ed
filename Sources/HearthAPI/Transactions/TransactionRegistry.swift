package import DocumentModel
package import DocumentStore
import Synchronization

/// The open transactions of a database, with optimistic concurrency control.
///
/// Transactions take no locks. The reads of a transaction show one snapshot and are recorded, and its commit is aborted if any
/// result has changed. Committed transactions are therefore serializable, no transaction waits for another, and among competing
/// transactions one always commits; the others get a retry delay.
///
/// Transactions are kept in memory and expire when they are unused or exceed their lifetime. A restart of the server ends all of
/// them, and clients retry. Servers with the same secret (``TransactionIDIssuer``) go on with each other's read-only transactions, and
/// abort those that write, so that clients run them again.
package final class TransactionRegistry: Sendable {
    private let table: Mutex<TransactionTable>
    private let limits: TransactionLimits
    private let issuer: TransactionIDIssuer
    private let database: String
    private let retries = Mutex(RetryScheduler())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Creates an empty registry.
    ///
    /// - Parameters:
    ///   - issuer: The issuer of their IDs.
    ///   - database: The name of the database; empty for the default one.
    ///   - now: The clock for the expiry of transactions.
    package init(
        limits: TransactionLimits = TransactionLimits(),
        issuer: TransactionIDIssuer = TransactionIDIssuer(),
        database: String = "",
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limits = limits
        self.issuer = issuer
        self.database = database
        self.now = now
        table = Mutex(TransactionTable(limits: limits, at: now()))
    }

    /// The number of open transactions, including expired ones that have not been removed yet.
    package var count: Int {
        table.withLock { $0.count }
    }

    /// True if an unexpired transaction is open.
    var hasOpenTransactions: Bool {
        table.withLock { [now = now()] in $0.hasOpenTransactions(at: now) }
    }

    /// Begins a transaction, which only its owner may use.
    func begin(_ mode: OpenTransaction.Mode, for owner: Caller.Identity = .system) throws(StatusError) -> TransactionID {
        let transaction = OpenTransaction(mode, of: owner, at: now())
        let id = issuer.makeID(of: mode, at: .current(), for: owner, in: database)
        try table.withLock { table throws(StatusError) in try table.insert(transaction, as: id) }
        return id
    }

    /// Closes a transaction without a commit. Has no effect if it is already closed.
    func rollback(_ id: TransactionID, for owner: Caller.Identity = .system) {
        table.withLock { table in table.remove(id, of: owner) }
    }

    /// Returns the mode of a transaction, and its snapshot if one is pinned.
    func state(
        of id: TransactionID,
        for owner: Caller.Identity = .system
    ) throws(StatusError) -> (mode: OpenTransaction.Mode, snapshot: ReadSnapshot?) {
        do throws(StatusError) {
            return try withTransaction(id, of: owner) { ($0.mode, $0.snapshot) }
        } catch {
            return (try modeElsewhere(id, of: owner, or: error), nil)
        }
    }

    /// Returns the mode of a read-only transaction of another server.
    ///
    /// - Throws: ``StatusCode/aborted`` for a read-write transaction of another server, and `error` for any other ID.
    private func modeElsewhere(
        _ id: TransactionID,
        of owner: Caller.Identity,
        or error: StatusError
    ) throws(StatusError) -> OpenTransaction.Mode {
        guard let contents = issuer.contents(of: id, for: owner, in: database), !contents.isOfThisServer else { throw error }
        guard case .readOnly = contents.mode else {
            var aborted = StatusError(
                .aborted,
                "The transaction was begun on another server, or before this server was restarted. Run it again."
            )
            aborted.retryAfter = .zero
            throw aborted
        }
        let age = Duration.microseconds(Timestamp.current().microseconds - contents.startTime.microseconds)
        guard age < limits.lifetime else { throw error }
        return contents.mode
    }

    /// Pins the snapshot of a transaction unless it has one, and returns the pinned one.
    func pin(
        _ snapshot: ReadSnapshot,
        in id: TransactionID,
        for owner: Caller.Identity = .system
    ) throws(StatusError) -> ReadSnapshot {
        try withTransaction(id, of: owner) { $0.pin(snapshot) }
    }

    /// Records a read. The result is returned to the client only afterward, so the commit validates all that the client has seen.
    func recordRead(
        in id: TransactionID,
        for owner: Caller.Identity = .system,
        _ read: (inout ReadSet) -> Void
    ) throws(StatusError) {
        let now = now()
        try table.withLock { table throws(StatusError) in try table.recordRead(in: id, of: owner, at: now, read) }
    }

    /// Commits the writes of a transaction. The transaction is closed, whether or not the commit succeeds.
    ///
    /// - Parameter identity: The identity by which the commit is recognized when it is sent again, after the transaction has ended;
    ///   `nil` for none.
    /// - Throws: ``StatusCode/aborted`` with a retry delay if a recorded read has changed, or the server is overloaded; ``StatusCode/invalidArgument`` if the
    ///   transaction is read-only; the errors of the store's commit.
    package func commit(
        _ id: TransactionID,
        _ writes: [Write],
        for owner: Caller.Identity = .system,
        to store: any DocumentStore,
        identity: CommitIdentity? = nil
    ) async throws(StatusError) -> CommitResult {
        let now = now()
        var transaction: OpenTransaction?
        do throws(StatusError) {
            do throws(StatusError) {
                transaction = try table.withLock { table throws(StatusError) in try table.close(id, of: owner, at: now) }
            } catch {
                transaction = OpenTransaction(try modeElsewhere(id, of: owner, or: error), of: owner, at: now)
            }
        } catch {
            // With an identity, it may be one that has been committed.
            guard identity != nil else { throw error }
        }
        if case .readOnly? = transaction?.mode, !writes.isEmpty {
            throw StatusError(.invalidArgument, "The transaction is read-only and cannot commit writes. Begin it with readWrite.")
                .decided
        }
        if let snapshot = transaction?.snapshot, snapshot.restartCount != store.restartCount {
            var aborted = StatusError(
                .aborted,
                "The database has lost commits that the transaction may have read, in a fail-over or a restore of its engine. Nothing was "
                    + "written. Run the transaction again."
            )
            aborted.retryAfter = .zero
            throw aborted
        }
        do throws(StatusError) {
            return try await store.commit(
                writes,
                validating: transaction?.reads ?? .ended,
                by: CommitAuthor(keyID: owner.keyID),
                identity: identity
            )
        } catch {
            var error = error
            // It is closed, so that the client has to run it again.
            if error.code == .unavailable, error.isExecuted == false { error.code = .aborted }
            guard error.code == .aborted, error.isExecuted != false else { throw error }
            // The duration of the commit itself does not count: competing transactions share the wait for the disk.
            let attempt = min(transaction?.firstReadTime ?? now, now)..<now
            let (path, end) = (error.path ?? "", self.now())
            error.retryAfter = retries.withLock { $0.delay(forConflictAt: path, attempt: attempt, now: end) }
            throw error
        }
    }

    private func withTransaction<Result: Sendable>(
        _ id: TransactionID,
        of owner: Caller.Identity,
        _ body: (inout OpenTransaction) -> Result
    ) throws(StatusError) -> Result {
        let now = now()
        return try table.withLock { table throws(StatusError) in try table.withTransaction(id, of: owner, at: now, body) }
    }
}
