internal import DocumentModel
internal import DocumentStore
internal import StrictJSON
internal import UTF8Text

/// One transaction of the engine, which makes a batch of commits.
///
/// 1. It locks the row of the database. Then it reads the last commit, the documents, the scopes and the receipts that the commits
///    need, in statements of their own; in the same round trip, unless the last transaction waited for other servers. A statement sees
///    what was committed before it began, so one that waited for the lock would not see the commit that it waited for.
/// 2. The commits are evaluated. Those that fail change nothing.
/// 3. It writes what the others change, and commits. No other commit of the database comes between.
struct CommitTransaction: Sendable {
    /// The number of the database.
    let database: Int64
    /// The commits.
    private(set) var commits: [QueuedCommit]
    /// The IDs of the fields of the database.
    let fields: FieldIDs
    /// The identity of the transaction, by which its commits are found when the answer to `COMMIT` was lost. Forwarded commits have
    /// tokens of their own.
    let token: [UInt8]
    /// The last commit that this server knows, with its time, as an anchor: an engine that has lost commits lacks it.
    let known: StorePosition
    /// The limits, and whether to notify the other servers.
    let configuration: PostgresConfiguration

    /// The result of a transaction.
    struct Outcome: Sendable {
        /// The outcomes of the first commits.
        let outcomes: [Result<CommitResult, StatusError>]
        /// The commits that were made, in order.
        let commits: [Commit]
        /// Their tokens.
        let tokens: [[UInt8]]
        /// The commit before them.
        let previous: (sequence: SequenceNumber, time: Timestamp?)
        /// The time until the database was locked, and what is read under the lock when that is one round trip, beyond that of the
        /// shortest round trip.
        let lockDelay: Duration
        /// The time that the engine took to make the commits durable; `nil` if there are none.
        let sync: Range<ContinuousClock.Instant>?
    }

    /// The cause of an error when the answer to `COMMIT` was lost.
    struct UnknownOutcome: Error {
        /// The result, if the transaction was committed.
        let outcome: Outcome
    }

    /// The maximum size of a commit: that of a value in PostgreSQL is 1 GiB.
    private static let maximumCommitBytes = 128 << 20
    /// The channel of the notifications, whose payload is the number of the database.
    static let channel = "hearth"

    /// Runs the transaction.
    ///
    /// - Parameter joining: Returns the commits that have arrived while it waited for the lock, to make them as well; `nil` to lock and
    ///   read in one round trip.
    /// - Throws: An error with ``UnknownOutcome`` as its cause when the commits may have been made; any other error when they were not.
    func run(_ connection: EngineConnection, joining: (() -> [QueuedCommit])? = nil) throws(StatusError) -> Outcome {
        let begin = ContinuousClock.now
        guard let joining else {
            let state = try State(connection, self, isLocked: false)
            return try run(connection, state, lockDelay: connection.delay(ofRoundTrip: .now - begin))
        }
        try connection.execute([Self.beginning, EngineStatement(State.lockSQL, .integer(database))])
        let lockDelay = connection.delay(ofRoundTrip: .now - begin)
        var transaction = self
        transaction.commits += joining()
        return try transaction.run(connection, State(connection, transaction, isLocked: true), lockDelay: lockDelay)
    }

    fileprivate static let beginning = EngineStatement("BEGIN ISOLATION LEVEL READ COMMITTED")

    private func run(_ connection: EngineConnection, _ state: State, lockDelay: Duration) throws(StatusError) -> Outcome {
        let budget = EntryBudget(maximum: configuration.maximumEntryCount, database, state.progress, fields)
        var batch = CommitBatch(
            after: (state.last, state.lastTime),
            maximumCommitBytes: Self.maximumCommitBytes,
            check: { changes throws(StatusError) in try budget.charge(changes) },
            now: { state.now }
        )
        if !state.quota.isUnlimited { batch.allowance = DatabaseQuota.Allowance(state.quota, used: state.used) }
        var receipts = CommitReceipts()
        for (client, known) in state.receipts { receipts.update(client, known) }
        var outcomes: [Result<CommitResult, StatusError>] = []
        var tokens: [[UInt8]] = []
        for commit in commits {
            guard batch.accepts(commit.request), !budget.isSpent else { break }
            if let refusal = state.refusal(of: commit) {
                outcomes.append(.failure(refusal))
                continue
            }
            let count = batch.commits.count
            batch.add(commit.request, lastChange: state.lastChange, earlierReceipts: receipts) { path throws(StatusError) in
                try state.document(at: path)
            }
            outcomes += batch.outcomes.suffix(1)
            guard batch.commits.count > count else { continue }
            tokens.append(commit.origin?.token ?? commit.forwardedToken ?? token)
            if let origin = commit.origin { state.didMake(origin) }
        }
        // A failed statement has ended the transaction, and with it the lock.
        if let failure = state.failure { throw failure }
        let made = { [outcomes, tokens, batch] (sync: Range<ContinuousClock.Instant>?) in
            Outcome(
                outcomes: outcomes,
                commits: batch.commits,
                tokens: tokens,
                previous: (state.last, state.lastTime),
                lockDelay: lockDelay,
                sync: sync
            )
        }
        guard !batch.commits.isEmpty || !batch.receipts.isEmpty else { return made(nil) }
        let writer = try CommitWriter(self, state, batch, tokens)
        let begin = ContinuousClock.now
        do throws(StatusError) {
            try connection.executeInSteps(writer.statements)
        } catch {
            // Refusals alone are made again.
            guard error.engineError?.isOutcomeUnknown == true, !batch.commits.isEmpty else { throw error }
            var unknown = error
            unknown.cause = UnknownOutcome(outcome: made(begin..<max(begin, .now)))
            throw unknown
        }
        return made(begin..<max(begin, .now))
    }

    /// Returns whether a transaction whose answer was lost has been committed. Waits until it has ended.
    ///
    /// Its first commit alone does not tell. When another server has forwarded that one and given up waiting, it makes the commit itself, under
    /// the same token, and perhaps the same number; but later, and without those that follow. Commits that are equal in all of these are the
    /// same, since they were evaluated at the same time on the same documents.
    static func wasCommitted(
        _ outcome: Outcome,
        _ database: Int64,
        _ connection: EngineConnection
    ) throws(StatusError) -> Bool {
        guard let first = outcome.commits.first, let last = outcome.commits.last else { return true }
        let rows = try connection.execute([
            EngineStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            EngineStatement("SELECT db FROM hearth.databases WHERE db = $1::bigint FOR UPDATE", .integer(database)),
            EngineStatement(
                """
                SELECT seq, time, token FROM hearth.commits
                WHERE db = $1::bigint AND seq >= $2::bigint AND seq <= $3::bigint ORDER BY seq
                """,
                .integer(database),
                .integer(Int64(first.sequence.rawValue)),
                .integer(Int64(last.sequence.rawValue))
            ),
            EngineStatement("COMMIT"),
        ])[2]
        return rows.count == outcome.commits.count
            && zip(outcome.commits, outcome.tokens).enumerated().allSatisfy { row, made in
                rows.integer(row, 0) == Int64(made.0.sequence.rawValue) && rows.time(row, 1) == made.0.time
                    && rows.bytes(row, 2) == made.1
            }
    }
}

extension CommitTransaction {
    /// The rows that the transaction has read under the lock.
    final class State {
        /// The last commit; zero before the first.
        let last: SequenceNumber
        let lastTime: Timestamp?
        /// The term of the current lease.
        let term: Int64
        /// The lowest version of the tables that servers must know.
        private let minimumVersion: Int64
        /// The engine's time, after every time that a point-in-time read has used.
        let now: Timestamp
        let quota: DatabaseQuota
        /// The documents of the database.
        let used: CollectionSize
        /// The receipts of the clients.
        private(set) var receipts: [CommitClientID: ClientReceipts] = [:]
        /// The scopes by key; only those that the commits need.
        private(set) var scopes: [[UInt8]: (id: Int64, changed: SequenceNumber)] = [:]
        /// The highest number of a scope.
        let lastScope: Int64
        /// The policies of the index.
        let progress: IndexProgress
        /// The oldest retained commit, after which every scope that was changed has a row.
        private let oldest: SequenceNumber
        /// The last commits that transactions and the servers of forwarded commits have seen, as far as the log has them.
        private var anchors: Set<LogAnchor> = []
        /// The tokens of forwarded commits that have been made.
        private var madeTokens: Set<[UInt8]> = []
        /// The error of a statement.
        private(set) var failure: StatusError?

        private let connection: EngineConnection
        private let database: Int64
        private var documents: [DocumentPath: EncodedDocument?] = [:]

        /// - Parameter isLocked: True in a transaction that has locked the database.
        init(_ connection: EngineConnection, _ transaction: CommitTransaction, isLocked: Bool) throws(StatusError) {
            self.connection = connection
            database = transaction.database
            let paths = transaction.paths
            let names = paths.map { EngineKey.name($0) }
            let clients = Set(transaction.commits.compactMap { $0.request.identity?.client })
            let id = EngineValue.integer(database)
            var statements = [
                EngineStatement(Self.lockSQL, id),
                EngineStatement(Self.lastSQL, id),
                EngineStatement(Self.documentsSQL, id, .byteStrings(names)),
                EngineStatement(Self.scopesSQL, id, .byteStrings(Array(transaction.scopeKeys))),
            ]
            if !clients.isEmpty { statements.append(EngineStatement(Self.clientsSQL, id, .byteStrings(clients.map(\.bytes)))) }
            // Updates are compared by time, but scopes by numbers, which a lost history has had, too.
            let needsAnchor = transaction.commits.contains { $0.origin == nil && !$0.request.reads.scopes.isEmpty }
            let anchor = needsAnchor ? LogAnchor(transaction.known) : nil
            if let anchor { statements.append(anchor.statement(database)) }
            let origins = transaction.commits.compactMap(\.origin)
            let anchors = Set(transaction.commits.compactMap(\.readAnchor) + origins.compactMap(\.anchor))
            if !origins.isEmpty { statements.append(Self.madeStatement(database, origins)) }
            if !anchors.isEmpty { statements.append(Self.anchorStatement(database, Array(anchors))) }
            let rows = Array(
                try connection.execute((isLocked ? [] : [CommitTransaction.beginning]) + statements).suffix(statements.count)
            )
            let (lock, log, found, scopeRows) = (rows[0], rows[1], rows[2], rows[3])
            guard lock.count == 1 else { throw .databaseDeleted }
            let versions = EngineSchema.Versions(current: log.integer(0, 3) ?? 0, minimum: log.integer(0, 5))
            if let unusable = versions.unusable { throw unusable }
            minimumVersion = versions.minimum
            if let anchor, !anchor.matches(rows[clients.isEmpty ? 4 : 5]) { throw HistoryLoss.abortedTransaction }
            progress = try IndexProgress(lock.bytes(0, 3))
            oldest = SequenceNumber(UInt64(lock.integer(0, 4) ?? 1))
            guard let clock = log.integer(0, 0), let lastScope = scopeRows.integer(0, 0) else {
                throw .damagedRow("the database has no scopes")
            }
            last = SequenceNumber(UInt64(log.integer(0, 1) ?? 0))
            lastTime = log.time(0, 2)
            term = log.integer(0, 4) ?? 0
            now = try Timestamp(microseconds: max(clock, (lock.integer(0, 0) ?? 0) + 1))
            quota = DatabaseQuota(
                documentCount: lock.integer(0, 1).map { Int($0) },
                byteCount: lock.integer(0, 2).map { Int($0) }
            )
            self.lastScope = lastScope
            var used = CollectionSize.zero
            for row in 0..<scopeRows.count {
                guard let id = scopeRows.integer(row, 1), let key = scopeRows.bytes(row, 2) else { continue }
                scopes[key] = (id, SequenceNumber(UInt64(scopeRows.integer(row, 3) ?? 0)))
                if id == 0 {
                    used = CollectionSize(
                        documentCount: Int(scopeRows.integer(row, 4) ?? 0),
                        byteCount: Int(scopeRows.integer(row, 5) ?? 0)
                    )
                }
            }
            self.used = used
            for path in paths { documents[path] = .some(nil) }
            for row in 0..<found.count {
                let document = try found.document(row, path: 0, fields: 1, created: 2, updated: 3)
                documents[document.path] = document
            }
            if !anchors.isEmpty, let rows = rows.last { self.anchors = Self.anchors(rows) }
            if !origins.isEmpty {
                let rows = rows[rows.count - (anchors.isEmpty ? 1 : 2)]
                madeTokens = Set((0..<rows.count).compactMap { rows.bytes($0, 0) })
            }
            guard !clients.isEmpty else { return }
            let clientRows = rows[4]
            for row in 0..<clientRows.count {
                guard let bytes = clientRows.bytes(row, 0), let json = try? JSONText(bytes).root,
                    let (client, receipts) = ClientReceipts.client(json)
                else { throw .damagedRow("the receipts of a client cannot be decoded") }
                self.receipts[client] = receipts
            }
        }

        /// Returns a document as it was before the transaction. Reads it, if no commit writes it.
        func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
            if let known = documents[path] { return known }
            if let failure { throw failure }
            do throws(StatusError) {
                let rows = try connection.execute(
                    EngineStatement(Self.documentsSQL, .integer(database), .byteStrings([EngineKey.name(path)]))
                )
                let document = rows.count == 1 ? try rows.document(0, path: 0, fields: 1, created: 2, updated: 3) : nil
                documents[path] = .some(document)
                return document
            } catch {
                failure = error
                throw error
            }
        }

        /// A statement that looks for forwarded commits that have been made.
        private static func madeStatement(_ database: Int64, _ origins: [QueuedCommit.Origin]) -> EngineStatement {
            EngineStatement(
                "SELECT token FROM hearth.commits WHERE db = $1::bigint AND seq > $2::bigint AND token = ANY($3::bytea[])",
                .integer(database),
                .integer(origins.map { Int64($0.anchor?.sequence.rawValue ?? 0) }.min()),
                .byteStrings(origins.map(\.token))
            )
        }

        /// A statement that looks for commits with their times.
        private static func anchorStatement(_ database: Int64, _ anchors: [LogAnchor]) -> EngineStatement {
            EngineStatement(
                """
                SELECT c.seq, c.time FROM unnest($2::bigint[], $3::bigint[]) AS known (seq, time)
                JOIN hearth.commits c ON c.db = $1::bigint AND c.seq = known.seq AND c.time = known.time
                """,
                .integer(database),
                .integers(anchors.map { Int64($0.sequence.rawValue) }),
                .integers(anchors.map(\.time.microseconds))
            )
        }

        private static func anchors(_ rows: EngineRows) -> Set<LogAnchor> {
            var anchors: Set<LogAnchor> = []
            for row in 0..<rows.count {
                guard let number = rows.integer(row, 0), let time = rows.time(row, 1) else { continue }
                anchors.insert(LogAnchor(SequenceNumber(UInt64(number)), at: time))
            }
            return anchors
        }

        /// Records that a forwarded commit is made.
        func didMake(_ origin: QueuedCommit.Origin) { madeTokens.insert(origin.token) }

        /// Returns the error of a commit that must not be made; `nil` if it may be.
        ///
        /// The server of a forwarded commit looks for it after the last commit that it knows. An engine that has lost that one might number
        /// it lower.
        func refusal(of commit: QueuedCommit) -> StatusError? {
            if let anchor = commit.readAnchor, !anchors.contains(anchor) { return HistoryLoss.abortedTransaction }
            guard let origin = commit.origin else { return nil }
            if madeTokens.contains(origin.token) { return ForwardedCommitNotMade.duplicate }
            // A server that cannot use the tables forwards nothing into them either.
            guard origin.version >= minimumVersion else { return ForwardedCommitNotMade.lease }
            guard origin.term == term, origin.anchor.map(anchors.contains) ?? true else { return ForwardedCommitNotMade.lease }
            return nil
        }

        /// Returns the last commit that changed a document in a scope that a commit validates, or the last one that is not retained: then a
        /// scope without documents may have had a row.
        func lastChange(in scope: ReadScope) -> SequenceNumber {
            scopes[scope.key]?.changed ?? SequenceNumber(oldest.rawValue - min(1, oldest.rawValue))
        }

        fileprivate static let lockSQL = """
            SELECT observed, quota_documents, quota_bytes, builds, oldest FROM hearth.databases
            WHERE db = $1::bigint AND name IS NOT NULL FOR UPDATE
            """
        private static let lastSQL = """
            SELECT \(EngineClock.sql), l.seq, l.time, (SELECT version FROM hearth.format WHERE id = 1),
                (SELECT term FROM hearth.leases WHERE db = $1::bigint), (SELECT version FROM hearth.format WHERE id = 2)
            FROM (SELECT 1) one
            LEFT JOIN LATERAL (
                SELECT seq, time FROM hearth.commits WHERE db = $1::bigint ORDER BY seq DESC LIMIT 1
            ) l ON true
            """
        private static let documentsSQL = """
            SELECT path, fields, created, updated FROM hearth.documents WHERE db = $1::bigint AND name = ANY($2::bytea[])
            """
        private static let scopesSQL = """
            SELECT (SELECT max(id) FROM hearth.scopes WHERE db = $1::bigint), id, key, changed, documents, bytes
            FROM hearth.scopes WHERE db = $1::bigint AND key = ANY($2::bytea[])
            """
        private static let clientsSQL = """
            SELECT receipts FROM hearth.clients WHERE db = $1::bigint AND client = ANY($2::bytea[])
            """
    }

    /// The documents that the commits write or have read.
    private var paths: Set<DocumentPath> {
        var paths: Set<DocumentPath> = []
        for request in commits.map(\.request) {
            paths.formUnion(request.writes.map(\.path))
            paths.formUnion(request.reads.documents.keys)
        }
        return paths
    }

    /// The keys of the scopes that the commits change or have read, and that of the database.
    private var scopeKeys: Set<[UInt8]> {
        var scopes: Set<ReadScope> = [.database]
        for request in commits.map(\.request) {
            for write in request.writes { scopes.formUnion(write.path.scopes) }
            scopes.formUnion(request.reads.scopes.keys)
        }
        return Set(scopes.map(\.key))
    }
}

/// The clock of the engine, which gives all commits their times.
enum EngineClock {
    /// An expression for the current time in microseconds since 1970.
    static let sql = "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000000) AS BIGINT)"
}

extension ReadScope {
    /// The key in `scopes`.
    var key: [UInt8] {
        switch self {
        case .collection(let path): EngineKey.scope(of: path)
        case .group(let id): EngineKey.scope(ofGroup: id)
        case .database: []
        }
    }
}
