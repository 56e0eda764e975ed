internal import DocumentModel
internal import DocumentStore
internal import GRDB
internal import GRDBSQLite
internal import Logging
internal import QueryEngine

/// The owner of the index database: opens it, applies commits, backfills and rebuilds it.
///
/// It is confined to the maintenance queue of ``DocumentIndex``.
struct IndexMaintainer {
    let file: IndexFile
    let epoch: Epoch
    let logger: Logger
    /// The last commit in the index.
    private(set) var applied = SequenceNumber.zero
    /// The index definitions that were last passed to ``setDefinitions(_:)``; `nil` before the first call.
    private(set) var definitions: IndexDefinitions?
    /// The build states of these definitions, by collection.
    private(set) var buildStates: [CollectionID: IndexBuildState] = [:]
    /// The running backfill.
    private(set) var backfill: IndexBackfill?
    /// The edition in the file.
    private var edition: String?
    private var database: DatabaseQueue?
    private var context = IndexWriter.Context()
    /// True if the folder's ``IndexRecord`` says that the file is being written.
    private var isMarkedOpen = false

    init(file: IndexFile, epoch: Epoch, logger: Logger) {
        self.file = file
        self.epoch = epoch
        self.logger = logger
    }

    /// True if the index is open and complete up to ``applied``.
    var isOpen: Bool { database != nil }

    /// An error in index maintenance, by its source.
    enum Failure: Error {
        case database(IndexDatabaseError)
        /// An error from the source or the folder.
        case storage(StatusError)
        /// The disk is nearly full.
        case lowDiskSpace

        /// The error as clients see it.
        var status: StatusError {
            switch self {
            case .database(let error): error.status
            case .storage(let error): error
            case .lowDiskSpace: DiskHeadroom.exhaustedError
            }
        }

        /// True if there is no space left on the disk.
        var isOutOfSpace: Bool { status.code == .resourceExhausted }
    }

    /// Empties the page cache, and frees the buffers of past transactions.
    mutating func releaseMemory() {
        database?.releaseMemory()
        if context.changes.isEmpty { context.changes = EntryChangeBuffer() }
    }

    static func catchingStorageErrors<Result>(_ body: () throws(StatusError) -> Result) throws(Failure) -> Result {
        do throws(StatusError) {
            return try body()
        } catch {
            throw .storage(error)
        }
    }

    static func catchingDatabaseErrors<Result>(_ body: () throws -> Result) throws(Failure) -> Result {
        do {
            return try body()
        } catch {
            throw .database(IndexDatabaseError(error))
        }
    }
}

extension IndexMaintainer {
    /// Opens the existing index.
    ///
    /// - Parameter last: The last commit of the store.
    /// - Returns: The reason why the index must be rebuilt, or `nil` if it is open.
    mutating func open(last: SequenceNumber) throws(Failure) -> String? {
        let reason = try Self.catchingStorageErrors { () throws(StatusError) -> String? in
            if let reason = try file.unusableReason() { return reason }
            try file.removeForeignWALFiles()
            return nil
        }
        if let reason { return reason }
        do throws(IndexDatabaseError) {
            // A WAL file that this run wrote is complete, and after a disk-full error the main file may be inconsistent without
            // it.
            let isOwn = edition == file.edition
            let headerWithoutWAL = isOwn ? nil : try file.readHeaderWithoutWAL()
            // Only for a file of this format, whose other pages are then worth a look.
            if headerWithoutWAL != nil, let damage = try file.sampledDamage() { return "it is damaged: \(damage)" }
            let database = try file.openForWriting(isNew: false)
            let header = try IndexDatabaseError.catching { try database.inDatabase { try IndexFileHeader($0) } }
            guard let header, header.epoch == epoch, header.isComplete, header.sequence <= last else {
                try? database.close()
                return "its format or history does not match, or it is incomplete"
            }
            if !isOwn || header.edition != edition,
                let reason = file.unusableReason(header, headerWithoutWAL: headerWithoutWAL)
            {
                try? database.close()
                return reason
            }
            self.database = database
            applied = header.sequence
            edition = header.edition
        } catch {
            guard error.isFileUnusable else { throw .database(error) }
            return "it cannot be read: \(error.message)"
        }
        return nil
    }

    /// Rebuilds the index.
    ///
    /// The build is one transaction without SQLite's rollback journal, so after an error it must start again.
    ///
    /// - Parameters:
    ///   - start: The last commit that the document files contain.
    ///   - definitions: The index definitions.
    ///   - build: Adds all documents.
    mutating func rebuild(
        from start: (sequence: SequenceNumber, time: Timestamp?),
        _ definitions: IndexDefinitions,
        build: (inout IndexBulkBuilder) throws(Failure) -> Void
    ) throws(Failure) {
        close()
        try Self.catchingStorageErrors { () throws(StatusError) in try file.recreate() }
        isMarkedOpen = true
        let database = try Self.catchingDatabaseErrors { try file.openForWriting(isNew: true) }
        defer { try? database.close() }
        var end = start
        do {
            let (epoch, file) = (epoch, file)
            try database.inDatabase { database in
                // One transaction, so that SQLite writes a page only when its cache is full.
                try database.execute(sql: IndexSchema.statements)
                try database.execute(sql: "BEGIN")
                try IndexFileHeader(epoch: epoch, sequence: start.sequence, time: start.time, edition: file.edition).insert(
                    database
                )
                for collection in definitions.collections {
                    try IndexBuildState(backfilled: definitions.policy(of: collection)).save(collection, database)
                }
                var builder = IndexBulkBuilder(writer: try IndexWriter(database), file: file, last: start)
                try build(&builder)
                try database.execute(sql: "COMMIT")
                // In a separate transaction, after everything else: without a rollback journal, pages are written in no defined
                // order.
                try builder.writer.setPosition(builder.last.sequence, builder.last.time)
                end = builder.last
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw .database(IndexDatabaseError(error))
        }
        try? database.close()
        self.database = try Self.catchingDatabaseErrors { try file.openForWriting(isNew: false) }
        buildStates = [:]
        applied = end.sequence
        edition = file.edition
    }

    /// Closes the database after an error. It is opened again before the next use.
    mutating func close() {
        try? database?.close()
        database = nil
        definitions = nil
        backfill = nil
        context.reset()
    }

    /// Checkpoints, syncs and closes the database for a clean shutdown.
    ///
    /// - Returns: `false` if that fails. The index can then be used only until the machine is restarted.
    mutating func finish() -> Bool {
        guard let database else { return false }
        do {
            guard !database.inDatabase(\.hasMoved) else { throw IndexDatabaseError.fileReplaced }
            guard try checkpoint(database, waits: true) else { throw IndexDatabaseError(busy: "a reader is still active") }
            try database.close()
            self.database = nil
            try file.didClose(as: edition)
            return true
        } catch {
            logger.warning("Closing the index failed", metadata: ["error": "\(error)"])
            close()
            return false
        }
    }
}

extension IndexMaintainer {
    /// Applies commits that follow those in the index: in one transaction, or in several when disk space is low.
    ///
    /// - Parameter onApplied: Called after each transaction with its last commit, and the size of the documents as of it.
    mutating func apply(
        _ updates: [IndexUpdate],
        onApplied: (SequenceNumber, CollectionSize?) -> Void
    ) throws(Failure) {
        var rest = updates[...]
        while !rest.isEmpty {
            let count = try batchSize(rest)
            try applyBatch(rest.prefix(count))
            onApplied(applied, size)
            rest.removeFirst(count)
        }
    }

    /// The number and size of all documents as of ``applied``; `nil` if it cannot be read.
    var size: CollectionSize? {
        let size = try? read { database in
            let statement = try IndexStatement("SELECT documents, bytes FROM sizes WHERE scope = ?1", database)
            defer { statement.reset() }
            statement.bind(IndexCatalog.allDocuments, at: 1)
            guard try statement.step() else { return CollectionSize.zero }
            return CollectionSize(documentCount: Int(statement.integer(0)), byteCount: Int(statement.integer(1)))
        }
        return size
    }

    private func batchSize(_ updates: ArraySlice<IndexUpdate>) throws(Failure) -> Int {
        guard case .low = try diskHeadroom() else { return updates.count }
        var byteCount = 0
        let fitting = updates.prefix { update in
            byteCount += update.byteCount
            return byteCount <= DiskHeadroom.batchBytes
        }
        return max(1, fitting.count)
    }

    private mutating func applyBatch(_ updates: ArraySlice<IndexUpdate>) throws(Failure) {
        guard isOpen, let last = updates.last else { return }
        let documents = Self.documents(of: updates)
        try write { database, context in
            let writer = try IndexWriter(database)
            try writer.apply(documents, &context)
            try writer.setPosition(last.last, last.time)
        }
        applied = last.last
    }

    /// Returns each changed document once, as of the last update.
    static func documents(of updates: ArraySlice<IndexUpdate>) -> [(path: DocumentPath, fields: MapValue?)] {
        guard updates.count > 1 else { return updates.first?.changes ?? [] }
        var positions: [DocumentPath: Int] = [:]
        var documents: [(path: DocumentPath, fields: MapValue?)] = []
        for change in updates.lazy.flatMap(\.changes) {
            if let position = positions[change.path] {
                documents[position] = change
            } else {
                positions[change.path] = documents.count
                documents.append(change)
            }
        }
        return documents
    }

    /// Sets the index definitions. They apply to documents that are written from now on; for the others, see ``backfillBatch()``.
    mutating func setDefinitions(_ definitions: IndexDefinitions) throws(Failure) {
        guard self.definitions != definitions else { return }
        backfill = nil
        let stored = try read { try IndexBuildState.fetchAll($0) }
        var states = stored
        for collection in Set(stored.keys).union(definitions.collections) {
            states[collection, default: IndexBuildState()].setDesired(definitions.policy(of: collection))
        }
        if states != stored {
            try write { [states] database, context in
                for (collection, state) in states { try state.save(collection, database) }
                context.invalidateBuildStates()
            }
        }
        buildStates = states
        self.definitions = definitions
    }

    /// Backfills one batch of documents; `false` if no backfill is needed.
    mutating func backfillBatch() throws(Failure) -> Bool {
        guard let collection = backfill?.collection ?? buildStates.first(where: { !$0.value.isBackfilled })?.key else {
            return false
        }
        var (job, state) = (backfill, buildStates[collection] ?? IndexBuildState())
        (job, state) = try write { [job, state] database, context in
            var (job, state) = (try job ?? IndexBackfill(collection, &context.catalog, database), state)
            let writer = try IndexWriter(database)
            guard try !job.processBatch(writer, &context) else { return (job, state) }
            state.markBackfilled()
            try state.save(collection, database)
            context.invalidateBuildStates()
            return (nil, state)
        }
        backfill = job
        buildStates[collection] = state
        return true
    }
}

extension IndexMaintainer {
    private func read<Result>(_ body: (Database) throws -> Result) throws(Failure) -> Result {
        guard let database else { throw .database(IndexDatabaseError(busy: "it is not open")) }
        return try Self.catchingDatabaseErrors { try database.inDatabase(body) }
    }

    /// Runs `body` in a write transaction.
    mutating func write<Result>(
        _ body: (Database, inout IndexWriter.Context) throws -> Result
    ) throws(Failure) -> Result {
        guard let database else { throw .database(IndexDatabaseError(busy: "it is not open")) }
        let headroom = try diskHeadroom()
        if !isMarkedOpen {
            try Self.catchingStorageErrors { () throws(StatusError) in try file.willWrite(over: edition) }
            isMarkedOpen = true
        }
        var context = context
        let (oldEdition, newEdition) = (edition, file.edition)
        // Kept only if the transaction commits.
        self.context = IndexWriter.Context()
        let result = try Self.catchingDatabaseErrors {
            try database.inDatabase { database in
                guard !database.hasMoved else { throw IndexDatabaseError.fileReplaced }
                var result: Result?
                try database.inTransaction(.immediate) {
                    result = try body(database, &context)
                    if oldEdition != newEdition { try IndexWriter.setEdition(newEdition, database) }
                    return .commit
                }
                guard let result else { throw IndexDatabaseError(corruption: "a transaction has no result") }
                return result
            }
        }
        self.context = context
        edition = newEdition
        // A failure is harmless: the WAL file then keeps its size until the next attempt.
        if case .low = headroom { _ = try? checkpoint(database, waits: false) }
        return result
    }

    private func diskHeadroom() throws(Failure) -> DiskHeadroom {
        let headroom = try Self.catchingStorageErrors { () throws(StatusError) in try file.diskHeadroom() }
        if case .exhausted = headroom { throw .lowDiskSpace }
        return headroom
    }

    /// Moves the contents of the WAL into the main file and truncates the WAL; `false` if readers prevent that.
    ///
    /// - Parameter waits: Whether to wait for readers, up to the busy timeout.
    private func checkpoint(_ database: DatabaseQueue, waits: Bool) throws -> Bool {
        try database.inDatabase { database in
            if !waits { sqlite3_busy_timeout(database.sqliteConnection, 0) }
            defer { sqlite3_busy_timeout(database.sqliteConnection, IndexFile.busyTimeoutMilliseconds) }
            return try Bool.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == false
        }
    }
}
