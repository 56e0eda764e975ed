internal import DocumentModel
internal import DocumentStore
internal import GRDB
internal import StorageIO

/// Builds the contents of an empty index from documents and commits.
///
/// Entries are buffered, sorted externally, and finally written in index order, so that each page of the B-tree is written once.
struct IndexBulkBuilder {
    typealias Failure = IndexMaintainer.Failure

    let writer: IndexWriter
    private let file: IndexFile
    /// The external sort; `nil` while all entries fit in memory.
    private var sorter: ExternalSorter?
    /// The last commit that was applied.
    private(set) var last: (sequence: SequenceNumber, time: Timestamp?)
    private var context = IndexWriter.Context()
    /// The documents that commits have changed during the build, with the last such commit.
    private var changed: [DocumentPath: SequenceNumber] = [:]

    /// The size of buffered entries that triggers the write of a sorted run.
    private static let maximumBufferBytes = 48 << 20

    init(writer: IndexWriter, file: IndexFile, last: (sequence: SequenceNumber, time: Timestamp?)) {
        self.writer = writer
        self.file = file
        self.last = last
    }

    /// Applies commits that follow the last one.
    mutating func apply(_ updates: [IndexUpdate]) throws(Failure) {
        guard let newest = updates.last else { return }
        try stage(IndexMaintainer.documents(of: updates[...]))
        for update in updates {
            for change in update.changes { changed[change.path] = update.last }
        }
        last = (newest.last, newest.time)
    }

    /// Adds documents from commits that the scan does not contain.
    mutating func add(_ images: [DocumentPath: EncodedDocument?]) throws(Failure) {
        var documents: [(path: DocumentPath, fields: MapValue?)] = []
        for (path, image) in images {
            let fields = try IndexMaintainer.catchingStorageErrors { () throws(StatusError) in try image?.decoded().fields }
            documents.append((path, fields))
        }
        try stage(documents)
    }

    /// Adds documents from a scan, except those that a later commit has changed.
    mutating func add(_ batch: DocumentBatch) throws(Failure) {
        // The batch contains the commits up to its position.
        changed = changed.filter { $0.value > batch.position }
        let changed = changed
        let documents = batch.documents.lazy.filter { changed[$0.path] == nil }.map {
            (path: $0.path, fields: Optional($0.fields))
        }
        try stage(documents)
        let unreadable = batch.unreadable.filter { changed[$0] == nil }
        try stage(unreadable.map { (path: $0, fields: MapValue()) })
        try IndexMaintainer.catchingDatabaseErrors { try writer.markUnreadable(unreadable, &context) }
    }

    /// Writes all entries and sizes.
    ///
    /// - Parameter onProgress: Called periodically with the part that has been written, from 0 to 1; an error that it throws ends the
    ///   build.
    mutating func finish(onProgress: (Double) throws(Failure) -> Void) throws(Failure) {
        try IndexMaintainer.catchingDatabaseErrors { try writer.flushSizes(&context) }
        guard sorter != nil else {
            return try IndexMaintainer.catchingDatabaseErrors { try writer.flushEntries(&context) }
        }
        try writeRun()
        guard let sorter else { return }
        var count = 0
        do {
            try sorter.merge { change in
                try writer.write(change)
                count += 1
                if count.isMultiple(of: 100_000) { try onProgress(sorter.mergedFraction) }
            }
        } catch let failure as Failure {
            throw failure
        } catch let error as FileSystemError {
            throw .storage(error.status("read", IndexFile.sortFileName))
        } catch {
            throw .database(IndexDatabaseError(error))
        }
    }

    private mutating func stage(_ documents: some Sequence<(path: DocumentPath, fields: MapValue?)>) throws(Failure) {
        try IndexMaintainer.catchingDatabaseErrors {
            try writer.stage(documents, &context)
            try writer.flushSizesIfNeeded(&context)
        }
        if context.changes.byteCount >= Self.maximumBufferBytes { try writeRun() }
    }

    private mutating func writeRun() throws(Failure) {
        try IndexMaintainer.catchingStorageErrors { () throws(StatusError) in
            let sorter = if let sorter { sorter } else { ExternalSorter(try file.makeSortFile()) }
            self.sorter = sorter
            try reporting("write", IndexFile.sortFileName) { () throws(FileSystemError) in try sorter.add(&context.changes) }
        }
    }
}
