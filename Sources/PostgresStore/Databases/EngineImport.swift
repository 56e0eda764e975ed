package import DocumentModel
internal import DocumentStore
package import Logging
internal import Synchronization
internal import UTF8Text

/// The filling of an empty database of an engine with documents that keep their create and update times.
///
/// The documents are those of the database as of ``complete()``; what was before is not known to it. Servers may have the database open,
/// but must not write to it meanwhile. An import changes neither the tables nor what servers share, such as keys and leases.
package final class EngineImport: Sendable {
    private let engine: Engine
    private let database: Int64
    private let queue: CommitQueue
    /// The beginning of the tokens of its commits.
    private let token: [UInt8]
    /// The time of the begin, by the engine's clock. No document has a later one.
    package let time: Timestamp
    /// True if there is nothing to discard.
    private let isEnded = Atomic(false)

    /// The time limit of a statement that removes all that was written.
    private static let maximumDiscardTime: Duration = .seconds(60 * 60)

    private init(_ engine: Engine, _ row: DatabaseRow, at position: StorePosition, _ time: Timestamp) {
        self.engine = engine
        database = row.number
        token = RandomBytes.make(16)
        queue = CommitQueue(
            row.number,
            engine,
            CommitLog(at: position, row.number, engine),
            FieldIDs(seed: row.seed),
            tokenPrefix: token
        )
        self.time = time
    }

    /// Begins to fill a database, which is created if it does not exist.
    ///
    /// - Parameter id: An additional database; `nil` for the default one.
    /// - Throws: `.failedPrecondition` if the database has ever had a document, or if the engine has tables of a
    ///   version that this program cannot use;
    ///   `.unavailable` when the engine cannot be reached.
    package static func begin(
        _ configuration: PostgresConfiguration,
        database id: DatabaseID?,
        logger: Logger
    ) async throws(StatusError) -> EngineImport {
        let engine = Engine(configuration, logger: logger)
        let identity = id.map { DatabaseIdentity($0) } ?? DatabaseIdentity()
        do throws(StatusError) {
            let (row, log, time) = try await engine.writes.write { connection throws(StatusError) in
                try EngineSchema.check(connection)
                let maximumCount = id == nil ? nil : PostgresHost.maximumCount
                let row = try DatabaseRow(identity, maximumCount: maximumCount, connection)
                let log = try LogPosition(connection, row.number)
                let clock = try connection.execute(EngineStatement("SELECT \(EngineClock.sql)"))
                guard let time = clock.time(0, 0) else { throw .damagedRow("the engine has no time") }
                return (row, log, time)
            }
            guard log.last == .zero else {
                throw StatusError(
                    .failedPrecondition,
                    "The database is not empty. Import into a new one, named with --database, or into a running server with --server."
                )
            }
            return EngineImport(engine, row, at: log.position(of: id, row.epoch), time)
        } catch {
            await engine.close()
            throw error
        }
    }

    /// Writes documents. One replaces an earlier one at its path.
    ///
    /// - Throws: `.invalidArgument` for a document that was created after its update or updated in the future, before anything is
    ///   written; the errors of a commit.
    package func write(_ documents: [Document]) async throws(StatusError) {
        var times: [DocumentPath: CommitRequest.Times] = [:]
        for document in documents {
            try document.checkTimes(upTo: time)
            times[document.path] = CommitRequest.Times(createTime: document.createTime, updateTime: document.updateTime)
        }
        _ = try await queue.commit(
            CommitRequest(
                writes: documents.map { document throws(StatusError) in try Write.set(document.path, document.fields) },
                reads: ReadSet(),
                author: nil,
                identity: nil,
                times: times
            )
        )
    }

    /// Ends the import. Servers serve the database from here on, without a history.
    ///
    /// - Throws: `.failedPrecondition` if a server has written to the database meanwhile. Then all documents stay, with the history.
    package func complete() async throws(StatusError) {
        do throws(StatusError) {
            try await engine.writes.write { [self] connection throws(StatusError) in
                _ = try lockCommits(connection)
                try connection.execute([
                    EngineStatement(
                        """
                        UPDATE hearth.databases SET oldest =
                            1 + COALESCE((SELECT max(seq) FROM hearth.commits WHERE db = $1::bigint), 0) WHERE db = $1::bigint
                        """,
                        .integer(database)
                    ),
                    EngineStatement("COMMIT"),
                ])
                return
            }
        } catch {
            guard error.code == .failedPrecondition else { throw error }
            // Commits that servers have acknowledged stay.
            await end()
            throw error
        }
        await end()
    }

    /// Removes what was written, so that the database is empty again, with its keys, rules and settings. Has no effect after the end.
    ///
    /// - Throws: `.failedPrecondition` if a server has written to the database meanwhile; then nothing is removed. The errors of the
    ///   engine.
    package func discard() async throws(StatusError) {
        guard !isEnded.load(ordering: .relaxed) else { return }
        let session = EngineSession(
            engine.configuration.address,
            timeout: Self.maximumDiscardTime,
            maximumIdle: engine.configuration.maximumIdle,
            label: "hearth.engine.import",
            log: engine.log
        )
        let result = await Result<Void, StatusError>.catching { () async throws(StatusError) in
            try await session.run(repeating: false) { [self] connection throws(StatusError) in
                guard try lockCommits(connection) > 0 else { return }
                let emptied = ["entries", "documents", "changes", "commits"].map { table in
                    EngineStatement("DELETE FROM hearth.\(table) WHERE db = $1::bigint", .integer(database))
                }
                try connection.execute(
                    emptied + [
                        EngineStatement("DELETE FROM hearth.scopes WHERE db = $1::bigint AND id <> 0", .integer(database)),
                        EngineStatement(
                            "UPDATE hearth.scopes SET documents = 0, bytes = 0, changed = 0 WHERE db = $1::bigint",
                            .integer(database)
                        ),
                        EngineStatement("COMMIT"),
                    ]
                )
            }
        }
        await session.close()
        await end()
        try result.get()
    }

    /// Begins a transaction that locks the row of the database, so that there are no commits meanwhile.
    ///
    /// - Returns: The number of commits of the import.
    /// - Throws: `.failedPrecondition` if there are others.
    private func lockCommits(_ connection: EngineConnection) throws(StatusError) -> Int64 {
        let rows = try connection.execute([
            EngineStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            EngineStatement(
                "SELECT db FROM hearth.databases WHERE db = $1::bigint AND name IS NOT NULL FOR UPDATE",
                .integer(database)
            ),
            // A statement of its own, which sees the commit that the lock has waited for.
            EngineStatement(
                """
                SELECT count(*), count(*) FILTER (WHERE substr(token, 1, \(token.count)) = $2::bytea)
                FROM hearth.commits WHERE db = $1::bigint
                """,
                .integer(database),
                .bytes(token)
            ),
        ])
        guard rows[1].count == 1, let all = rows[2].integer(0, 0), let own = rows[2].integer(0, 1) else {
            throw .databaseDeleted
        }
        guard own == all else {
            throw StatusError(
                .failedPrecondition,
                "A server has written to the database during the import. What was imported stays there, beside what the server has "
                    + "written. To import all of it, import into the running server with --server, or into a new database."
            )
        }
        return own
    }

    private func end() async {
        isEnded.store(true, ordering: .relaxed)
        await queue.close()
        await engine.close()
    }
}
