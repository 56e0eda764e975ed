internal import DocumentModel
internal import GRDB

extension IndexApplier {
    /// An index that is being made.
    struct Filling {
        let writer: IndexWriter
        private let file: IndexFile
        /// The entries that are too many to be in memory.
        private var runs: EntryRuns?
        /// The last commit that has been taken in.
        private(set) var last: (sequence: SequenceNumber, time: Timestamp?)
        private var memory = IndexWriter.Memory()
        /// The documents that commits changed meanwhile, with the last of these.
        private var changed: [DocumentPath: SequenceNumber] = [:]

        /// How much memory entries take before they are written to a file.
        private static let maximumBytes = 48 << 20

        init(writer: IndexWriter, file: IndexFile, last: (sequence: SequenceNumber, time: Timestamp?)) {
            self.writer = writer
            self.file = file
            self.last = last
        }

        /// Takes in commits that follow the last.
        mutating func apply(_ updates: [IndexUpdate]) throws(Obstacle) {
            guard let newest = updates.last else { return }
            try prepare(IndexApplier.documents(of: updates[...]))
            for update in updates {
                for change in update.changes { changed[change.path] = update.last }
            }
            last = (newest.last, newest.time)
        }

        /// Takes in documents whose files are not as commits made them.
        mutating func add(_ images: [DocumentPath: EncodedDocument?]) throws(Obstacle) {
            var documents: [(path: DocumentPath, fields: MapValue?)] = []
            for (path, image) in images {
                documents.append((path, try IndexApplier.folder { () throws(StatusError) in try image?.decoded().fields }))
            }
            try prepare(documents)
        }

        /// Takes in documents as they were read from their files, but for those that a commit has changed since.
        mutating func add(_ batch: DocumentScan.Batch) throws(Obstacle) {
            // What was committed before the batch was read is in what was read.
            changed = changed.filter { $0.value > batch.position }
            let changed = changed
            let documents = batch.documents.lazy.filter { changed[$0.path] == nil }.map {
                (path: $0.path, fields: Optional($0.fields))
            }
            try prepare(documents)
        }

        /// Writes all entries and sizes into the index; no entries are there before.
        ///
        /// - Parameter check: Called now and then: where it throws, that is the end.
        mutating func writeEntries(checking check: () throws(Obstacle) -> Void) throws(Obstacle) {
            try IndexApplier.index { () throws(IndexFailure) in
                try IndexFailure.catching { try writer.writeSizes(&memory) }
            }
            guard runs != nil else {
                return try IndexApplier.index { () throws(IndexFailure) in
                    try IndexFailure.catching { try writer.run(&memory) }
                }
            }
            try writeRun()
            var count = 0
            do {
                try runs?.merge { change in
                    try writer.run(change)
                    count += 1
                    if count.isMultiple(of: 100_000) { try check() }
                }
            } catch let obstacle as Obstacle {
                throw obstacle
            } catch let error as SystemError {
                throw .folder(error.status("read", IndexFile.sortingName))
            } catch {
                throw .index(IndexFailure(error))
            }
        }

        private mutating func prepare(_ documents: some Sequence<(path: DocumentPath, fields: MapValue?)>) throws(Obstacle) {
            try IndexApplier.index { () throws(IndexFailure) in
                try IndexFailure.catching {
                    try writer.prepare(documents, &memory)
                    try writer.writeSizesIfMany(&memory)
                }
            }
            if memory.changes.byteCount >= Self.maximumBytes { try writeRun() }
        }

        private mutating func writeRun() throws(Obstacle) {
            try IndexApplier.folder { () throws(StatusError) in
                let runs = if let runs { runs } else { EntryRuns(try file.makeSortingFile()) }
                self.runs = runs
                try reporting("write", IndexFile.sortingName) { () throws(SystemError) in try runs.add(&memory.changes) }
            }
        }
    }
}
