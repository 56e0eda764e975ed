internal import DocumentModel
internal import DocumentStore
internal import Synchronization

/// Adds the entries that are missing, of documents that were written before there was an index, or before an index was defined.
///
/// Documents are processed in steps, each in a transaction that locks the row of the database and records the progress. So several
/// servers may work on the same backfill, and one continues where another one was ended.
final class EntryBackfill: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isClosed = false
        /// True if there may be more to do than the run in progress knows.
        var isNeeded = false
    }

    private let state = Mutex(State())
    private let database: Int64
    private let engine: Engine
    private let fields: FieldIDs

    /// The number of documents of a step, which commits wait for.
    private static let stepCount: Int64 = 100
    /// The size of the documents of a step.
    private static let stepBytes = 1 << 20
    /// The pause after a failure.
    private static let pause: Duration = .seconds(5)

    init(_ database: Int64, _ engine: Engine, _ fields: FieldIDs) {
        self.database = database
        self.engine = engine
        self.fields = fields
    }

    /// Starts a run in the background, unless one is in progress.
    func start() {
        state.withLock { state in
            state.isNeeded = true
            guard !state.isClosed, state.task == nil else { return }
            state.task = Task.detached { await self.runUntilComplete() }
        }
    }

    /// Ends, after the step in progress.
    func close() async {
        let task = state.withLock { state in
            state.isClosed = true
            state.task?.cancel()
            return state.task
        }
        await task?.value
    }

    private func runUntilComplete() async {
        while true {
            let isNeeded = state.withLock { state in
                defer { state.isNeeded = false }
                if !state.isNeeded || state.isClosed { state.task = nil }
                return state.isNeeded && !state.isClosed
            }
            guard isNeeded else { return }
            do throws(StatusError) {
                try await run()
            } catch {
                guard error.code != .notFound else { continue }
                // The engine is away, or another transaction won a race.
                state.withLock { $0.isNeeded = true }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Runs to the end, or until it is closed.
    func run() async throws(StatusError) {
        while !state.withLock(\.isClosed) {
            let isComplete = try await engine.writes.write { [database, fields, engine] connection throws(StatusError) in
                try Self.step(database, fields, engine.log, connection)
            }
            if isComplete { return }
        }
    }

    /// Processes some documents; returns true if none are left.
    private static func step(
        _ database: Int64,
        _ fields: FieldIDs,
        _ log: EngineLog,
        _ connection: EngineConnection
    ) throws(StatusError) -> Bool {
        try connection.execute(EngineStatement("BEGIN ISOLATION LEVEL READ COMMITTED"))
        defer { connection.rollBack() }
        var progress = try DatabaseRow.definitions(of: database, isLocking: true, connection).progress
        let collection = progress.builds.filter { $0.value.position != nil }.keys.min()
        guard var position = progress.fill ?? collection.flatMap({ progress.builds[$0]?.position }) else { return true }
        let isFill = progress.fill != nil
        let page = try connection.execute(
            EngineStatement(
                """
                SELECT name, path, fields, collection, collection_group FROM (
                    SELECT page.*, sum(octet_length(fields)) OVER (ORDER BY name) - octet_length(fields) AS bytes_before FROM (
                        SELECT name, path, fields, collection, collection_group FROM hearth.documents
                        WHERE db = $1::bigint AND name > $2::bytea AND \
                \(isFill ? "$3::bytea IS NULL" : "collection_group = (SELECT id FROM hearth.scopes WHERE db = $1::bigint AND key = $3::bytea)")
                        ORDER BY name LIMIT \(stepCount)
                    ) page
                ) sized WHERE bytes_before < \(stepBytes) ORDER BY name
                """,
                .integer(database),
                .bytes(position.name),
                .bytes(isFill ? nil : collection.map { EngineKey.scope(ofGroup: $0) })
            )
        )
        var changes = EntryChanges(database, progress, fields)
        for row in 0..<page.count {
            guard let name = page.bytes(row, 0), let text = page.text(row, 1), let json = page.bytes(row, 2),
                let scope = page.integer(row, 3), let group = page.integer(row, 4)
            else { throw .damagedRow("a document lacks a column") }
            position.name = name
            position.count += 1
            do throws(StatusError) {
                let path = try DocumentPath(text)
                let document = EncodedDocument(path: path, createTime: .minimum, updateTime: .minimum, fieldsJSON: json)
                changes.backfill(try document.decoded().fields, at: path, collection: scope, group: group, isFill: isFill)
            } catch {
                // One damaged row must not keep all other documents from being indexed.
                log.didSkip(text, because: error)
            }
        }
        if page.count > 0 {
            if isFill { progress.fill = position } else if let collection { progress.builds[collection]?.position = position }
        } else {
            if isFill { progress.fill = nil } else if let collection { progress.finish(collection) }
        }
        let end = [
            EngineStatement(
                "UPDATE hearth.databases SET builds = $2::bytea WHERE db = $1::bigint",
                .integer(database),
                .bytes(progress.encoded)
            ), EngineStatement("COMMIT"),
        ]
        try connection.executeInSteps([AnySequence(changes.statements), AnySequence(end)].joined())
        return progress.isComplete
    }
}
