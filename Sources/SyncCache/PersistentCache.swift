package import DocumentModel
internal import GRDB
internal import SyncEngine

/// A cache in two SQLite files of a folder: `queue.sqlite` with what users have written, which must not be lost, and `cache.sqlite`
/// with what the server has told, which may be deleted at any time while the cache is closed.
///
/// A transaction is committed to each file as a whole, in the order that ``SyncEngine/LocalCache`` demands. After a crash of the
/// process both files have all committed transactions. After a power cut, `queue.sqlite` has those before the last
/// ``synchronize()`` and perhaps later ones; `cache.sqlite` may be somewhat older.
///
/// Copies share the files. There must be one cache for a folder, whose calls are made one after the other: a ``CacheSlot`` keeps
/// other processes away.
///
/// If damage is found in a file, the call fails with ``StatusCode/dataLoss``, and so do all later ones that need the file, until the
/// files are opened again: see ``needsReopening`` and ``reopened()``.
package struct PersistentCache: LocalCache {
    /// True if documents are evicted as soon as nothing needs them.
    package let isEager: Bool
    /// The damage that opening the files has found, and what became of it.
    package let openingReport: OpeningReport
    let queue: CacheDatabase
    let cache: CacheDatabase
    let definitions = IndexDefinitions()
    /// The slot that keeps other processes away, if the cache has taken one over.
    private let slot: CacheSlot?
    private var isInTransaction = false
    /// True if the open transaction removes a batch.
    private var removesBatch = false

    /// Opens the files in a folder, and creates what is missing.
    ///
    /// A damaged `cache.sqlite` is set aside, and begun anew. The batches of a damaged `queue.sqlite` are taken over into a new file,
    /// as far as they can be read, and the damaged one is kept: ``openingReport`` tells about both.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` if a newer version of Hearth has written a file, which is left as it is;
    ///   ``StatusCode/unavailable`` or ``StatusCode/resourceExhausted`` with the reason of the system.
    package init(folder: String, isEager: Bool = false) throws(StatusError) {
        try self.init(folder: folder, slot: nil, isEager: isEager, checksCache: false)
    }

    /// Opens the files in a slot, as in a folder. The slot is held as long as there is a copy of the cache.
    package init(slot: CacheSlot, isEager: Bool = false) throws(StatusError) {
        try self.init(folder: slot.path, slot: slot, isEager: isEager, checksCache: false)
    }

    private init(folder: String, slot: CacheSlot?, isEager: Bool, checksCache: Bool) throws(StatusError) {
        try PrivateFile.createFolder(folder)
        self.isEager = isEager
        self.slot = slot
        let opened = try OpenedFiles(in: folder, checksCache: checksCache)
        queue = opened.queue
        cache = opened.cache
        openingReport = opened.report
    }

    /// Returns a cache without files, which ends with the process: for when they cannot be opened.
    package static func inMemory(isEager: Bool = false) -> PersistentCache {
        PersistentCache(isEager: isEager, queue: .inMemory(.queue), cache: .inMemory(.cache))
    }

    private init(isEager: Bool, queue: CacheDatabase, cache: CacheDatabase) {
        self.isEager = isEager
        self.queue = queue
        self.cache = cache
        slot = nil
        openingReport = OpeningReport()
    }

    /// True if damage was found since the files were opened, if they were removed, or if an attempt to open them again has failed.
    package var needsReopening: Bool {
        queue.isClosed || queue.damage != nil || cache.damage != nil || queue.isRemoved || cache.isRemoved
    }

    /// The number of calls of ``synchronize()`` that had something to sync.
    var synchronizationCount: Int { queue.syncCount }

    /// Closes the files. Later calls fail.
    package func close() {
        queue.close()
        cache.close()
    }

    /// Opens the files again after damage, or creates them again if they were removed.
    ///
    /// A damaged file is treated as by ``init(folder:isEager:)``. What a removed `queue.sqlite` had is in the new one; a removed
    /// `cache.sqlite` is begun anew. This cache is closed, also if an error is thrown; the call can then be repeated.
    package func reopened() throws(StatusError) -> PersistentCache {
        var (folder, slot) = (PrivateFile.parent(of: queue.path), slot)
        if queue.isRemoved, let removed = slot, !removed.isCurrent {
            // Another process may have taken its place.
            let unused = try CacheFolder(path: PrivateFile.parent(of: folder)).takeSlot { slot in
                !PrivateFile.exists(CacheFile.queue(in: slot.path).path)
            }
            (folder, slot) = (unused.path, unused)
        }
        if queue.isRemoved, queue.damage == nil, !queue.isClosed {
            try PrivateFile.createFolder(folder)
            try QueueRecovery.copy(queue, for: .queue(in: folder))
        }
        close()
        return try PersistentCache(folder: folder, slot: slot, isEager: isEager, checksCache: true)
    }

    /// Makes the queue durable, at the cost of one sync, or none if nothing was committed to the queue since the last call.
    ///
    /// - Throws: ``StatusCode/unavailable`` if the file was removed, apart from the errors of the system.
    package mutating func synchronize() throws(StatusError) {
        try queue.synchronize()
        guard !queue.isRemoved else {
            throw StatusError(
                .unavailable,
                "The file \(queue.path) was removed while it was in use. It is created again.",
                file: StatusError.FileLocation(path: queue.path)
            )
        }
    }
}

// MARK: Transactions

extension PersistentCache {
    /// Runs `body` in a transaction.
    ///
    /// If `body` throws, neither file is changed. If the second file cannot be written, the first one has been: as after a crash between
    /// both, which does no harm.
    package mutating func transaction<Result>(
        _ body: (inout Self) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        isInTransaction = true
        removesBatch = false
        defer { isInTransaction = false }
        do throws(StatusError) {
            let result = try body(&self)
            for file in removesBatch ? [cache, queue] : [queue, cache] { try file.commit() }
            return result
        } catch {
            queue.rollBack()
            cache.rollBack()
            throw error
        }
    }

    /// Calls `body`, which writes a file, in the open transaction or in one of its own.
    mutating func write<Result>(
        to file: CacheDatabase,
        _ body: (Database) throws -> Result
    ) throws(StatusError) -> Result {
        guard !isInTransaction else { return try file.write(body) }
        return try transaction { (_: inout Self) throws(StatusError) in try file.write(body) }
    }

    /// Records that the open transaction removes a batch, and must be stored in the cache first.
    mutating func markBatchRemoved() {
        removesBatch = true
    }
}

extension PersistentCache {
    /// Returns whether the queue in a folder has batches, or rejected ones that nobody has seen. The cache must not be open.
    static func hasQueuedBatches(in folder: String) -> Bool {
        let file = CacheFile.queue(in: folder)
        guard PrivateFile.size(file.path) ?? 0 > 0 || QueueRecovery.isUnfinished(file) else { return false }
        // Whatever keeps the file from being read is a matter for those who open it.
        guard let queue = try? file.open(isChecked: false) else { return true }
        defer { queue.close() }
        let count = try? queue.read { database in
            try CacheStatement("SELECT EXISTS (SELECT 1 FROM batch) + EXISTS (SELECT 1 FROM rejected)", database)
                .firstRow { try $0.integer(0) }
        }
        return count != 0
    }
}
