internal import DocumentModel
internal import DocumentStore
internal import StrictJSON
internal import UTF8Text

/// One transaction of the engine, which makes a batch of commits.
///
/// 1. It locks the row of the database, and then, in statements of their own, reads the last commit, the documents, the scopes and the
///    receipts that the commits need. A statement sees what was committed before it began, so one that waited for the lock would
///    not see the commit that it waited for.
/// 2. The commits are evaluated. Those that fail change nothing.
/// 3. It writes what the others change, and commits. No other commit of the database comes between.
struct CommitTransaction: Sendable {
    /// The number of the database.
    let database: Int64
    /// The commits.
    let requests: [CommitRequest]
    /// The receipts that this server knows, which have refusals too.
    let receipts: [CommitClientID: ClientReceipts]
    /// The identity of the transaction, by which its commits are found when the answer to `COMMIT` was lost.
    let token: [UInt8]
    /// True to notify the other servers.
    let notifies: Bool

    /// The result of a transaction.
    struct Outcome: Sendable {
        /// The outcomes of the first commits.
        let outcomes: [Result<CommitResult, StatusError>]
        /// The commits that were made, in order.
        let commits: [Commit]
        /// The commit before them.
        let previous: (sequence: SequenceNumber, time: Timestamp?)
        /// The receipts of the clients whose commits were decided.
        let receipts: [CommitClientID: ClientReceipts]
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
    /// - Throws: An error with ``UnknownOutcome`` as its cause when the commits may have been made; any other error when they were not.
    func run(_ connection: EngineConnection) throws(StatusError) -> Outcome {
        let state = try State(connection, self)
        var batch = CommitBatch(
            after: (state.last, state.lastTime),
            maximumCommitBytes: Self.maximumCommitBytes
        ) { state.now }
        if !state.quota.isUnlimited { batch.allowance = DatabaseQuota.Allowance(state.quota, used: state.used) }
        let known = knownReceipts(state)
        for request in requests {
            guard batch.accepts(request) else { break }
            batch.add(request, lastChange: state.lastChange, earlierReceipts: known) { path throws(StatusError) in
                try state.document(at: path)
            }
        }
        // A failed statement has ended the transaction, and with it the lock.
        if let failure = state.failure { throw failure }
        let previous = (state.last, state.lastTime)
        guard !batch.commits.isEmpty else {
            return Outcome(outcomes: batch.outcomes, commits: [], previous: previous, receipts: batch.receipts, sync: nil)
        }
        let statements = try CommitWriter(self, state, batch).statements
        let begin = ContinuousClock.now
        let made = { (end: ContinuousClock.Instant) in
            Outcome(
                outcomes: batch.outcomes,
                commits: batch.commits,
                previous: previous,
                receipts: batch.receipts,
                sync: begin..<max(begin, end)
            )
        }
        do throws(StatusError) {
            try connection.execute(statements)
        } catch {
            guard error.engineError?.isOutcomeUnknown == true else { throw error }
            var unknown = error
            unknown.cause = UnknownOutcome(outcome: made(.now))
            throw unknown
        }
        return made(.now)
    }

    /// Returns the receipts of the clients: those of this server, unless another one has made commits of the client since.
    private func knownReceipts(_ state: State) -> CommitReceipts {
        var known = CommitReceipts()
        for client in Set(requests.compactMap { $0.identity?.client }) {
            let stored = state.receipts[client]
            if let own = receipts[client], own.lastCommitted == stored?.lastCommitted ?? 0 {
                known.update(client, own)
            } else if let stored {
                known.update(client, stored)
            }
        }
        return known
    }

    /// Returns whether a transaction whose answer was lost has been committed. Waits until it has ended.
    static func wasCommitted(
        _ outcome: Outcome,
        token: [UInt8],
        _ database: Int64,
        _ connection: EngineConnection
    ) throws(StatusError) -> Bool {
        guard let first = outcome.commits.first else { return true }
        let rows = try connection.execute([
            EngineStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            EngineStatement("SELECT db FROM hearth.databases WHERE db = $1::bigint FOR UPDATE", .integer(database)),
            EngineStatement(
                "SELECT token FROM hearth.commits WHERE db = $1::bigint AND seq = $2::bigint",
                .integer(database),
                .integer(Int64(first.sequence.rawValue))
            ),
            EngineStatement("COMMIT"),
        ])
        return rows[2].count == 1 && rows[2].bytes(0, 0) == token
    }
}

extension CommitTransaction {
    /// The rows that the transaction has read under the lock.
    final class State {
        /// The last commit; zero before the first.
        let last: SequenceNumber
        let lastTime: Timestamp?
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
        /// The error of a statement.
        private(set) var failure: StatusError?

        private let connection: EngineConnection
        private let database: Int64
        private var documents: [DocumentPath: EncodedDocument?] = [:]

        init(_ connection: EngineConnection, _ transaction: CommitTransaction) throws(StatusError) {
            self.connection = connection
            database = transaction.database
            let paths = transaction.paths
            let names = paths.map { EngineKey.name($0) }
            let clients = Set(transaction.requests.compactMap { $0.identity?.client })
            let id = EngineValue.integer(database)
            let rows = try connection.execute([
                EngineStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
                EngineStatement(Self.lockSQL, id),
                EngineStatement(Self.lastSQL, id),
                EngineStatement(Self.documentsSQL, id, .byteStrings(names)),
                EngineStatement(Self.scopesSQL, id, .byteStrings(Array(transaction.scopeKeys))),
                EngineStatement(Self.clientsSQL, id, .byteStrings(clients.map(\.bytes))),
            ])
            let (lock, log, found, scopeRows, clientRows) = (rows[1], rows[2], rows[3], rows[4], rows[5])
            guard lock.count == 1 else { throw .databaseDeleted }
            guard let clock = log.integer(0, 0), let lastScope = scopeRows.integer(0, 0) else {
                throw .damagedRow("the database has no scopes")
            }
            last = SequenceNumber(UInt64(log.integer(0, 1) ?? 0))
            lastTime = log.time(0, 2)
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

        /// Returns the last commit that changed a document in a scope that a commit validates.
        func lastChange(in scope: ReadScope) -> SequenceNumber { scopes[scope.key]?.changed ?? .zero }

        private static let lockSQL = """
            SELECT observed, quota_documents, quota_bytes FROM hearth.databases
            WHERE db = $1::bigint AND name IS NOT NULL FOR UPDATE
            """
        private static let lastSQL = """
            SELECT \(EngineClock.sql), l.seq, l.time FROM (SELECT 1) one
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
        for request in requests {
            paths.formUnion(request.writes.map(\.path))
            paths.formUnion(request.reads.documents.keys)
        }
        return paths
    }

    /// The keys of the scopes that the commits change or have read, and that of the database.
    private var scopeKeys: Set<[UInt8]> {
        var scopes: Set<ReadScope> = [.database]
        for request in requests {
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
