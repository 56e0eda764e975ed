internal import DocumentModel
internal import GRDB

extension IndexApplier {
    /// An index that is being made.
    struct Filling {
        let writer: IndexWriter
        /// The last commit that has been taken in.
        private(set) var last: (sequence: SequenceNumber, time: Timestamp?)
        private var memory = IndexWriter.Memory()
        /// The documents that commits changed meanwhile, with the last of these.
        private var changed: [DocumentPath: SequenceNumber] = [:]

        init(writer: IndexWriter, last: (sequence: SequenceNumber, time: Timestamp?)) {
            self.writer = writer
            self.last = last
        }

        /// Takes in commits that follow the last.
        mutating func apply(_ updates: [IndexUpdate]) throws(IndexFailure) {
            guard let newest = updates.last else { return }
            try IndexFailure.catching { try writer.apply(IndexApplier.documents(of: updates), &memory) }
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
            try IndexApplier.index { () throws(IndexFailure) in
                try IndexFailure.catching { try writer.apply(documents, &memory) }
            }
        }

        /// Takes in documents as they were read from their files, but for those that a commit has changed since.
        mutating func add(_ batch: DocumentScan.Batch) throws(IndexFailure) {
            // What was committed before the batch was read is in what was read.
            changed = changed.filter { $0.value > batch.position }
            let changed = changed
            let documents = batch.documents.lazy.filter { changed[$0.path] == nil }.map {
                (path: $0.path, fields: Optional($0.fields))
            }
            try IndexFailure.catching { try writer.apply(documents, &memory) }
        }
    }
}
