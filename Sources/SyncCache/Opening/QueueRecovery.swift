internal import DocumentModel
internal import GRDB
internal import SyncEngine

/// The recovery of a damaged `queue.sqlite`: what can be read is taken over into a new file.
///
/// The new file is complete before it replaces the damaged one. After a crash, recovery begins again, or is finished.
struct QueueRecovery {
    /// The suffix of the new file until it replaces the damaged one.
    private static let newSuffix = "-recovered"
    /// The suffix of a copy until it is complete.
    private static let copySuffix = "-copied"
    /// The suffix of a copy of the damaged file with a new first page.
    private static let repairedSuffix = "-repaired"

    private let file: CacheFile
    private var report: OpeningReport.QueueRecovery

    /// Recovers a damaged file, and opens the new one.
    static func recover(
        _ file: CacheFile,
        _ damage: CacheFile.Damage
    ) throws(StatusError) -> (CacheDatabase, OpeningReport.QueueRecovery) {
        var recovery = QueueRecovery(file: file, report: OpeningReport.QueueRecovery(damage: damage.message))
        let new = CacheFile(folder: file.folder, name: file.name + newSuffix, schema: file.schema)
        let repaired = CacheFile(folder: file.folder, name: file.name + repairedSuffix, schema: file.schema)
        try removeAll(new)
        do throws(CacheFile.OpeningError) {
            let database = try new.open(isChecked: false)
            defer { database.close() }
            try recovery.takeOver(into: database, repaired)
        } catch {
            throw error.status
        }
        try removeAll(repaired)
        recovery.report.setAsideFile = try file.setAside(keepsOthers: true)
        try file.removeDamageMarker()
        try finish(file)
        do throws(CacheFile.OpeningError) {
            return (try file.open(isChecked: false), recovery.report)
        } catch {
            throw error.status
        }
    }

    /// True if a recovery was interrupted, so that the batches are in the new file alone.
    static func isUnfinished(_ file: CacheFile) -> Bool {
        !PrivateFile.exists(file.path) && PrivateFile.exists(file.path + newSuffix)
    }

    /// Finishes a recovery that was interrupted after the damaged file was set aside.
    static func finish(_ file: CacheFile) throws(StatusError) {
        let new = CacheFile(folder: file.folder, name: file.name + newSuffix, schema: file.schema)
        guard PrivateFile.exists(new.path) else { return }
        guard !PrivateFile.exists(file.path) else { return try removeAll(new) }
        // Those of the damaged file, which has been set aside without them.
        for suffix in CacheFile.companionSuffixes {
            try PrivateFile.remove(file.path + suffix)
            try PrivateFile.remove(new.path + suffix)
        }
        try PrivateFile.rename(new.path, to: file.path)
        try PrivateFile.synchronizeFolder(file.folder)
    }

    /// Writes what an open file has, which was removed, to the new file. It replaces the removed one when the file is opened.
    ///
    /// Nothing happens if there is a new file already.
    static func copy(_ removed: CacheDatabase, for file: CacheFile) throws(StatusError) {
        guard !PrivateFile.exists(file.path + newSuffix) else { return }
        try removed.copy(to: file.path + copySuffix)
        try PrivateFile.rename(file.path + copySuffix, to: file.path + newSuffix)
        try PrivateFile.synchronizeFolder(file.folder)
    }

    private static func removeAll(_ file: CacheFile) throws(StatusError) {
        for suffix in [""] + CacheFile.companionSuffixes { try PrivateFile.remove(file.path + suffix) }
    }

    private mutating func takeOver(
        into target: CacheDatabase,
        _ repaired: CacheFile
    ) throws(CacheFile.OpeningError) {
        do throws(StatusError) {
            var reader = DamagedQueueReader(path: file.path)
            var contents = reader.read()
            if contents == nil {
                // The first page, which has the schema, is that of every new file but for some counters.
                try repair(repaired, from: target)
                reader = DamagedQueueReader(path: repaired.path)
                contents = reader.read()
            }
            var found = contents ?? DamagedQueueReader.Contents()
            try found.addUnreachableBatches(of: file)
            try write(found, to: target)
        } catch {
            throw .status(error)
        }
    }

    /// Makes a copy of the damaged file with the first page of a new one.
    private func repair(_ repaired: CacheFile, from new: CacheDatabase) throws(StatusError) {
        try Self.removeAll(repaired)
        try PrivateFile.copy(file.path, to: repaired.path)
        if PrivateFile.exists(file.path + "-wal") { try PrivateFile.copy(file.path + "-wal", to: repaired.path + "-wal") }
        // The new file may have its first page in its WAL.
        try new.checkpoint()
        guard let page = try PrivateFile.prefix(of: new.path, count: CacheSchema.pageBytes), page.count == CacheSchema.pageBytes,
            let size = PrivateFile.size(repaired.path), size > CacheSchema.pageBytes
        else { return }
        var first = page
        // The size of the database in pages, big-endian, and an empty list of free pages.
        let pageCount = UInt32(clamping: size / CacheSchema.pageBytes)
        for index in 0..<4 { first[28 + index] = UInt8(truncatingIfNeeded: pageCount >> (24 - 8 * index)) }
        for index in 32..<40 { first[index] = 0 }
        try PrivateFile.overwrite(repaired.path, with: first)
    }

    private mutating func write(_ contents: DamagedQueueReader.Contents, to target: CacheDatabase) throws(StatusError) {
        report.lostCount = contents.areStatesComplete ? 0 : nil
        try target.write { database in
            for (user, rejected) in contents.rejected.sorted(by: { $0.key < $1.key }).map(\.value) {
                try database.insert(rejected, for: user)
                report.recoveredRejectedCount += 1
            }
            for user in Set(contents.batches.keys).union(contents.states.keys) {
                let batches = contents.batches[user]?.values.sorted { $0.number < $1.number } ?? []
                let queue = RecoveredQueue(contents.states[user], batches)
                for batch in queue.batches { try database.insert(batch, StoredJSON.encode(batch.writes), for: user) }
                for batch in queue.doubtful { try database.insert(RecoveredQueue.rejection(of: batch), for: user) }
                try database.save(queue.state, for: user)
                report.recoveredCount += queue.batches.count
                report.doubtfulCount += queue.doubtful.count
                report.lostCount = queue.lostCount.flatMap { lost in report.lostCount.map { $0 + lost } }
            }
        }
        try target.commit()
        // The file is renamed without its WAL.
        try target.checkpoint()
    }
}

/// A user's queue after a recovery.
struct RecoveredQueue {
    private(set) var state: QueueState
    private(set) var batches: [MutationBatch]
    /// Those batches that may have been sent and cannot be sent again under the identity that the server knows.
    private(set) var doubtful: [MutationBatch] = []
    /// The number of batches that are lost; `nil` if it is not known.
    let lostCount: Int?

    /// The number of commits of a client that the server accepts before the client has their answers.
    private static let maximumInFlight: BatchNumber = 16

    /// - Parameters:
    ///   - state: The state of the queue; `nil` if it is lost.
    ///   - batches: The batches that were read, in order of their numbers.
    init(_ state: QueueState?, _ batches: [MutationBatch]) {
        // A page that is no longer in use may still have batches that are decided.
        let batches = state.map { state in batches.filter { $0.number > state.decidedNumber } } ?? batches
        let byteCount = batches.reduce(0) { $0 + $1.byteCount }
        lostCount = state.map { Int(clamping: $0.count) - batches.count }
        if var state, lostCount == 0 {
            state.byteCount = byteCount
            (self.state, self.batches) = (state, batches)
            return
        }
        // The server refuses a commit after a gap, so the batches get an identity and numbers without one. Those that may have been sent
        // before could be made twice under it.
        let last = state?.lastNumber ?? batches.last?.number ?? 0
        let sent = state?.sentNumber ?? (batches.first?.number ?? 1) - 1 + Self.maximumInFlight
        doubtful = batches.filter { $0.number <= sent }
        self.batches = batches.dropFirst(doubtful.count).enumerated().map { index, batch in
            MutationBatch(
                number: last + 1 + UInt64(index),
                localTime: batch.localTime,
                writes: batch.writes,
                baseValues: batch.baseValues
            )
        }
        self.state = QueueState(
            identity: QueueIdentity(after: last),
            lastNumber: last + UInt64(self.batches.count),
            decidedNumber: last,
            sentNumber: last,
            byteCount: self.batches.reduce(0) { $0 + $1.byteCount }
        )
    }

    /// Returns a doubtful batch as one that the application has not seen.
    static func rejection(of batch: MutationBatch) -> RejectedBatch {
        RejectedBatch(
            number: batch.number,
            localTime: batch.localTime,
            writes: batch.writes,
            code: .unknown,
            message:
                "The queue was damaged, and it is not known whether the server has made these writes. Read the documents to find out."
        )
    }
}

/// A reader of what can be read of a damaged queue.
struct DamagedQueueReader {
    let path: String

    /// The rows that were read, by their IDs.
    struct Contents {
        var states: [UserID: QueueState] = [:]
        var areStatesComplete = false
        var batches: [UserID: [BatchNumber: MutationBatch]] = [:]
        var rejected: [Int64: (UserID, RejectedBatch)] = [:]

        /// Adds those batches that are in the file, while the pages that lead to them are damaged.
        ///
        /// Without the state of a queue they would be indistinguishable from those that are decided.
        mutating func addUnreachableBatches(of file: CacheFile) throws(StatusError) {
            let isIncomplete = states.contains { user, state in batches[user]?.count ?? 0 < state.count }
            guard isIncomplete, let size = PrivateFile.size(file.path),
                let bytes = try PrivateFile.prefix(of: file.path, count: size)
            else { return }
            BatchPageReader(bytes).readBatches { user, batch in
                if let state = states[user], batch.number > state.decidedNumber {
                    batches[user, default: [:]][batch.number] = batch
                }
            }
        }
    }

    /// The maximum number of rows that are looked up one by one, between those that can be read from both ends.
    private static let maximumGap: Int64 = 1_000_000

    /// Reads the file; `nil` if its schema cannot be read.
    func read() -> Contents? {
        let configuration = CacheFile.configuration("recovery", ignoresSchemaErrors: true)
        guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return nil }
        defer { try? queue.close() }
        return queue.inDatabase { database -> Contents? in
            guard (try? database.makeStatement(sql: "SELECT user, \(MutationBatch.columns) FROM batch")) != nil else {
                return nil
            }
            var contents = Contents()
            contents.areStatesComplete = readStates(database, into: &contents)
            readRows(of: "batch", MutationBatch.columns, database) { _, user, row in
                let batch = try MutationBatch(row, user: user)
                contents.batches[user, default: [:]][batch.number] = batch
            }
            readRows(of: "rejected", RejectedBatch.columns, database) { id, user, row in
                contents.rejected[id] = (user, try RejectedBatch(row, user: user))
            }
            return contents
        }
    }

    /// Returns whether all states were read.
    private func readStates(_ database: Database, into contents: inout Contents) -> Bool {
        var isComplete = true
        do {
            try CacheStatement("SELECT \(QueueState.columns), user FROM queue", database).forEachRow { row in
                do {
                    let user = try UserID(columnText: row.text(7))
                    contents.states[user] = try QueueState(row, user: user)
                } catch {
                    isComplete = false
                }
            }
        } catch {
            isComplete = false
        }
        return isComplete
    }

    /// Calls `body` with each row that can be read: from the first one up to the damage, from the last one down to it, and one by one
    /// in between. Rows for which `body` throws are passed over.
    private func readRows(
        of table: String,
        _ columns: String,
        _ database: Database,
        _ body: (Int64, UserID, CacheRow) throws -> Void
    ) {
        // The columns of the caller come first.
        let count = Int32(columns.split(separator: ",").count)
        var bounds: [Int64] = []
        for order in ["ASC", "DESC"] {
            var last: Int64?
            do {
                try CacheStatement("SELECT \(columns), user, id FROM \(table) ORDER BY id \(order)", database).forEachRow { row in
                    let id = try row.integer(count + 1)
                    last = id
                    try? body(id, UserID(columnText: row.text(count)), row)
                }
                return
            } catch {
                if let last { bounds.append(last) }
            }
        }
        // If one end cannot be read at all, IDs are tried from there.
        guard let first = bounds.first else { return }
        let end = bounds.count > 1 ? bounds[1] : first + Self.maximumGap / 10
        guard first < end, end - first <= Self.maximumGap,
            let lookup = try? CacheStatement("SELECT \(columns), user FROM \(table) WHERE id = ?", database)
        else { return }
        for id in (first + 1)..<end {
            lookup.bind(id, at: 1)
            _ = try? lookup.firstRow { row in try body(id, UserID(columnText: row.text(count)), row) }
        }
    }
}
