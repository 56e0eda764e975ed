internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO
internal import Synchronization

/// The begin of a new history in a data folder that is not open: a new epoch, whose first commit gives every document a new update
/// time. What was before it is not known to it.
struct NewHistory {
    private let sequence: SequenceNumber
    private let time: Timestamp

    /// The number of threads that write documents.
    private static let threadCount = 4

    /// Creates the first commit of a history.
    ///
    /// - Parameters:
    ///   - sequence: The highest known sequence number.
    ///   - time: The highest known commit time; `nil` if there is none. It may be in the future.
    init(after sequence: SequenceNumber, _ time: Timestamp?) {
        self.sequence = sequence.next
        let next = time.flatMap { try? Timestamp(microseconds: $0.microseconds + 1) }
        self.time = max(.current(), next ?? .minimum)
    }

    /// Rewrites the documents of a data folder that is complete without its journal. A damaged document stays as it is.
    ///
    /// - Parameter receipts: The receipts of the commits, which the new history keeps.
    /// - Returns: The number of documents.
    func begin(in data: DataFolder, _ receipts: CommitReceipts) throws(StatusError) -> Int {
        guard data.manifest.isClean else {
            throw StatusError(.internal, "The restored database is not complete without its journal.")
        }
        let count = try rewriteDocuments(in: data)
        try removeJournal(in: data)
        try removeIndex(in: data)
        let stored = StoredReceipts(receipts, through: sequence)
        try stored.write(in: data)
        try data.update { manifest in
            manifest.epoch = .random()
            manifest.lineage = []
            manifest.sequence = sequence
            manifest.receiptsSequence = stored.storedSequence
            manifest.commitTime = time
            // The files are right as they are: there are no commits to compare them with.
            manifest.acceptedSequence = sequence
            manifest.datedFiles = nil
            manifest.openIndex = nil
            manifest.indexEdition = nil
        }
        return count
    }

    private func rewriteDocuments(in data: DataFolder) throws(StatusError) -> Int {
        let count = Atomic(0)
        let failure = Mutex<StatusError?>(nil)
        try BackgroundThreads.run(count: Self.threadCount) { thread in
            do throws(StatusError) {
                let rewritten = try rewriteDocuments(of: thread, in: data)
                count.add(rewritten, ordering: .relaxed)
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        return count.load(ordering: .relaxed)
    }

    /// Each thread goes through all folders, and writes its part of the documents.
    private func rewriteDocuments(of thread: Int, in data: DataFolder) throws(StatusError) -> Int {
        let files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: ApplyLog())
        var count = 0
        let walk = DocumentFolderWalk(folders: files.folders) { _, error throws(StatusError) in throw error }
        try walk.forEachDocument { entry, folder throws(StatusError) in
            guard BackgroundThreads.number(for: entry.name.utf8, of: Self.threadCount) == thread else { return }
            do throws(StatusError) {
                guard let document = try files.decode(entry.name, id: entry.id, in: entry.collection, folder)?.document else {
                    return
                }
                let isShortened = files.folders.naming.file(of: document.path.id).isShortened
                try rewrite(document, entry, in: folder, storesID: isShortened)
                count += 1
            } catch {
                guard error.code == .dataLoss else { throw error }
            }
        }
        return count
    }

    /// Writes a document over itself: nobody reads it before the restore is complete, and no file of the folder that is being listed
    /// is replaced.
    private func rewrite(
        _ document: Document,
        _ entry: DocumentFolderWalk.Entry,
        in folder: borrowing FileDescriptor,
        storesID: Bool
    ) throws(StatusError) {
        let rewritten = Document(
            path: document.path,
            fields: document.fields,
            createTime: document.createTime,
            updateTime: time
        )
        let bytes = DocumentFile.encode(EncodedDocument(rewritten), storesID: storesID)
        try reporting("write", entry.folderPath + "/" + entry.name) { () throws(FileSystemError) in
            let file = try folder.openFile(entry.name, for: .updating)
            try file.write(bytes)
            try file.truncate(to: bytes.count)
            try file.setModificationTimeIfPermitted(microseconds: time.microseconds)
        }
    }

    private func removeJournal(in data: DataFolder) throws(StatusError) {
        let folder = SharedFileDescriptor(try data.openJournal())
        try reporting("remove", Journal.folderName) { () throws(FileSystemError) in
            var listing = try folder.descriptor.openForListing()
            while let entry = try listing.next() {
                guard JournalSegment.first(ofName: entry.name) != nil else { continue }
                try folder.descriptor.removeFile(entry.text)
            }
            try folder.descriptor.synchronize()
        }
    }

    private func removeIndex(in data: DataFolder) throws(StatusError) {
        for name in IndexFile.allNames { try data.removeFile(name) }
    }
}
