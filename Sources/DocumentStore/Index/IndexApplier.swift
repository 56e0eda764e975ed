internal import DocumentModel
internal import GRDB
internal import GRDBSQLite
internal import Logging

/// Keeps the index's database: opens it, changes it, makes it anew.
///
/// Only the index's thread has one.
struct IndexApplier {
    let file: IndexFile
    let epoch: Epoch
    let logger: Logger
    /// The last commit that is in the index.
    var applied = SequenceNumber.zero
    /// What the index was told to have, its state by collection, and what is being done about that; nil before it was told.
    var adopted: IndexDefinitions?
    var rules: [CollectionID: IndexRuleState] = [:]
    var conforming: IndexConforming?
    /// The edition that the file has.
    var edition: String?
    var database: DatabaseQueue?
    private var memory = IndexWriter.Memory()
    /// Whether it is noted that the file is being written.
    var isMarked = false

    init(file: IndexFile, epoch: Epoch, logger: Logger) {
        self.file = file
        self.epoch = epoch
        self.logger = logger
    }

    /// Whether the index is there and complete up to ``applied``.
    var isOpen: Bool { database != nil }

    /// Why an index can't be used.
    enum Obstacle: Error {
        case index(IndexFailure)
        case folder(StatusError)
        /// The disk is nearly full.
        case noSpace

        /// The error for whoever needs the index.
        var status: StatusError {
            switch self {
            case .index(let failure): failure.status
            case .folder(let error): error
            case .noSpace: IndexRoom.failure
            }
        }

        /// Whether there is no room on the disk.
        var isNoSpace: Bool { status.code == .resourceExhausted }
    }

    /// Takes in what commits made that follow those in the index: in one transaction, where there is room for that.
    ///
    /// - Parameter onApplied: Called after each transaction with the last commit in it.
    mutating func apply(_ updates: [IndexUpdate], onApplied: (SequenceNumber) -> Void) throws(Obstacle) {
        var rest = updates[...]
        while !rest.isEmpty {
            let count = try stepCount(rest)
            try applyTogether(rest.prefix(count))
            onApplied(applied)
            rest.removeFirst(count)
        }
    }

    /// How many of the updates are taken in together.
    private func stepCount(_ updates: ArraySlice<IndexUpdate>) throws(Obstacle) -> Int {
        guard case .little = try room() else { return updates.count }
        var byteCount = 0
        let fitting = updates.prefix { update in
            byteCount += update.byteCount
            return byteCount <= IndexRoom.stepBytes
        }
        return max(1, fitting.count)
    }

    private mutating func applyTogether(_ updates: ArraySlice<IndexUpdate>) throws(Obstacle) {
        guard isOpen, let last = updates.last else { return }
        let documents = Self.documents(of: updates)
        try write { database, memory in
            let writer = try IndexWriter(database)
            try writer.apply(documents, &memory)
            try writer.setState(last.last, last.time)
        }
        applied = last.last
    }

    /// Looks into the index.
    func read<Result>(_ body: (Database) throws -> Result) throws(Obstacle) -> Result {
        guard let database else { throw .index(IndexFailure(busy: "it is not open")) }
        return try Self.index { () throws(IndexFailure) in try IndexFailure.catching { try database.inDatabase(body) } }
    }

    /// Changes the index in one transaction.
    mutating func write<Result>(
        _ body: (Database, inout IndexWriter.Memory) throws -> Result
    ) throws(Obstacle) -> Result {
        guard let database else { throw .index(IndexFailure(busy: "it is not open")) }
        let room = try room()
        if !isMarked {
            try Self.folder { () throws(StatusError) in try file.willWrite(over: edition) }
            isMarked = true
        }
        var memory = memory
        let newEdition = file.edition
        // What is remembered counts only when the transaction does.
        self.memory = IndexWriter.Memory()
        let result = try Self.index { () throws(IndexFailure) in
            try IndexFailure.catching {
                try database.inDatabase { database in
                    guard !database.hasMoved else { throw IndexFailure.replaced }
                    var result: Result?
                    try database.inTransaction(.immediate) {
                        result = try body(database, &memory)
                        try IndexWriter.setEdition(newEdition, database)
                        return .commit
                    }
                    guard let result else { throw IndexFailure(damage: "a transaction has no result") }
                    return result
                }
            }
        }
        self.memory = memory
        edition = newEdition
        // Where somebody reads, or it fails, the log keeps its room for now.
        if case .little = room { _ = try? checkpoint(database, waits: false) }
        return result
    }

    /// How much room there is to write.
    private func room() throws(Obstacle) -> IndexRoom {
        let room = try Self.folder { () throws(StatusError) in try file.room() }
        if case .exhausted = room { throw .noSpace }
        return room
    }

    /// Each document once, as the last of the updates made it.
    static func documents(of updates: ArraySlice<IndexUpdate>) -> [(path: DocumentPath, fields: MapValue?)] {
        guard updates.count > 1 else { return updates.first?.changes ?? [] }
        var places: [DocumentPath: Int] = [:]
        var documents: [(path: DocumentPath, fields: MapValue?)] = []
        for change in updates.lazy.flatMap(\.changes) {
            if let place = places[change.path] {
                documents[place] = change
            } else {
                places[change.path] = documents.count
                documents.append(change)
            }
        }
        return documents
    }

    /// Gives the database up; it is opened again before the next use.
    mutating func close() {
        try? database?.close()
        database = nil
        adopted = nil
        conforming = nil
        memory.forget()
    }

    /// Brings everything into the database's own file and to disk, for a clean stop. False when that fails: the index is then
    /// used only until the machine is started anew.
    mutating func finish() -> Bool {
        guard let database else { return false }
        do {
            guard !database.inDatabase(\.hasMoved) else { throw IndexFailure.replaced }
            guard try checkpoint(database, waits: true) else { throw IndexFailure(busy: "somebody still reads it") }
            try database.close()
            self.database = nil
            try file.didClose(as: edition)
            return true
        } catch {
            logger.warning("The index could not be closed", metadata: ["error": "\(error)"])
            close()
            return false
        }
    }
}

extension IndexApplier {
    /// Brings all that is in the log into the database's own file and makes the log empty; false when that can't be done because
    /// somebody reads.
    ///
    /// - Parameter waits: Whether to give them a moment to end.
    private func checkpoint(_ database: DatabaseQueue, waits: Bool) throws -> Bool {
        try database.inDatabase { database in
            if !waits { sqlite3_busy_timeout(database.sqliteConnection, 0) }
            defer { sqlite3_busy_timeout(database.sqliteConnection, IndexFile.busyMilliseconds) }
            return try Bool.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == false
        }
    }
}

extension IndexApplier {
    static func folder<Result>(_ body: () throws(StatusError) -> Result) throws(Obstacle) -> Result {
        do throws(StatusError) {
            return try body()
        } catch {
            throw .folder(error)
        }
    }

    static func index<Result>(_ body: () throws(IndexFailure) -> Result) throws(Obstacle) -> Result {
        do throws(IndexFailure) {
            return try body()
        } catch {
            throw .index(error)
        }
    }
}
