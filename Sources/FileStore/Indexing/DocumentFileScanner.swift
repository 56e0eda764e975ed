internal import Dispatch
internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// A scan of all documents in their files, on its own thread, up to two batches ahead of the consumer.
final class DocumentFileScanner: DocumentScan {
    private enum Output {
        case batch(DocumentBatch)
        case end(Result<Void, StatusError>)
    }

    private struct State {
        var outputs: [Output] = []
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let freeSlots = DispatchSemaphore(value: 2)
    private let filledSlots = DispatchSemaphore(value: 0)
    private let files: DocumentFiles
    private let unapplied: UnappliedDocuments
    private let willScan: @Sendable () -> Void
    private let position: @Sendable () -> SequenceNumber
    private let onCount: @Sendable (Int, _ isComplete: Bool) -> Void
    private let logger: Logger

    /// The approximate size of a batch.
    private static let batchBytes = 8 << 20
    /// The approximate overhead of a document.
    private static let documentOverheadBytes = 256
    /// The number of documents between two reports of their count.
    private static let countInterval = 1_000

    /// Starts a scan.
    ///
    /// - Parameters:
    ///   - unapplied: The documents that are not in their files.
    ///   - willScan: Called before each batch.
    ///   - position: Returns the last commit whose document files are in place.
    ///   - onCount: Called repeatedly with the number of documents counted so far, and whether these are all.
    init(
        _ data: DataFolder,
        _ unapplied: UnappliedDocuments,
        willScan: @escaping @Sendable () -> Void,
        position: @escaping @Sendable () -> SequenceNumber,
        onCount: @escaping @Sendable (Int, _ isComplete: Bool) -> Void,
        logger: Logger
    ) {
        // Each document is read once, so a cache would not help.
        files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: ApplyLog())
        self.unapplied = unapplied
        self.willScan = willScan
        self.position = position
        self.onCount = onCount
        self.logger = logger
        DispatchQueue(label: "hearth.index.scan", qos: .utility).async { self.run() }
        DispatchQueue(label: "hearth.index.count", qos: .utility).async { self.count() }
    }

    /// Waits for the next batch; `nil` at the end.
    func next() throws(StatusError) -> DocumentBatch? {
        filledSlots.wait()
        let output = state.withLock { $0.outputs.removeFirst() }
        freeSlots.signal()
        switch output {
        case .batch(let batch):
            return batch
        case .end(let result):
            try result.get()
            return nil
        }
    }

    /// Cancels the scan. It ends after the current batch.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        // One slot for the batch that may be waiting, and one for the end.
        freeSlots.signal()
        freeSlots.signal()
    }

    private func run() {
        willScan()
        var batch = DocumentBatch(position: position())
        let result = Result { () throws(StatusError) in
            let walk = DocumentFolderWalk(folders: files.folders) { filePath, error throws(StatusError) in
                try self.skip(filePath, error)
            }
            try walk.forEachDocument { entry, folder throws(StatusError) in
                try self.read(entry, folder, &batch)
                if batch.byteCount >= Self.batchBytes { try self.emit(&batch) }
            }
            try emit(&batch)
        }
        put(.end(result))
    }

    /// Counts the documents by the names of their files, which takes a fraction of the time of reading them.
    private func count() {
        var count = 0
        // A folder that cannot be read is logged by the scan.
        let walk = DocumentFolderWalk(folders: files.folders) { _, error throws(StatusError) in
            guard error.affectsSingleFile else { throw error }
        }
        let result = Result { () throws(StatusError) in
            try walk.forEachDocument { _, _ throws(StatusError) in
                count += 1
                if count.isMultiple(of: Self.countInterval) { try self.report(count: count, isComplete: false) }
            }
            try report(count: count, isComplete: true)
        }
        if case .failure(let error) = result, !isCancelled {
            logger.warning("Counting the documents failed", metadata: ["error": "\(error)"])
        }
    }

    private func report(count: Int, isComplete: Bool) throws(StatusError) {
        guard !isCancelled else { throw Self.cancelled }
        onCount(count, isComplete)
    }

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    private static let cancelled = StatusError(.cancelled, "Building the index was cancelled.")

    private func emit(_ batch: inout DocumentBatch) throws(StatusError) {
        put(.batch(batch))
        guard !isCancelled else { throw Self.cancelled }
        willScan()
        batch = DocumentBatch(position: position())
    }

    private func put(_ output: Output) {
        freeSlots.wait()
        state.withLock { $0.outputs.append(output) }
        filledSlots.signal()
    }
}

extension DocumentFileScanner {
    /// Adds a document to a batch: from its file, or as of its last commit if that is not applied to the file.
    private func read(
        _ entry: DocumentFolderWalk.Entry,
        _ folder: borrowing FileDescriptor,
        _ batch: inout DocumentBatch
    ) throws(StatusError) {
        do throws(StatusError) {
            guard let document = try document(entry, folder) else { return }
            batch.documents.append((document.path, document.fields))
            batch.byteCount += Document.size(of: document.fields, at: document.path) + Self.documentOverheadBytes
        } catch {
            try skip(entry.folderPath + "/" + entry.name, error)
            // Indexed by name, so that queries report it.
            if let id = entry.id { batch.unreadable.append(entry.collection.document(id)) }
        }
    }

    private func document(
        _ entry: DocumentFolderWalk.Entry,
        _ folder: borrowing FileDescriptor
    ) throws(StatusError) -> Document? {
        // Before the file is read: a document that is not unapplied now is in its file, or its commit follows the batch's position.
        guard !unapplied.isEmpty else { return try documentInFile(entry, folder) }
        // A shortened name has no ID, so the path is only in the file.
        let path =
            if let id = entry.id { entry.collection.document(id) } else { try documentInFile(entry, folder)?.path }
        if let path, let image = unapplied.image(of: path) { return try image?.decoded() }
        return try documentInFile(entry, folder)
    }

    private func documentInFile(
        _ entry: DocumentFolderWalk.Entry,
        _ folder: borrowing FileDescriptor
    ) throws(StatusError) -> Document? {
        guard let (document, _) = try files.decode(entry.name, id: entry.id, in: entry.collection, folder),
            files.folders.naming.file(of: document.path.id).text.utf8.elementsEqual(entry.name.utf8)
        else { return nil }
        return document
    }

    /// Logs an error that concerns one document or folder. Rethrows any other error, since an incomplete index must not be used.
    private func skip(_ filePath: String, _ error: StatusError) throws(StatusError) {
        guard error.affectsSingleFile else { throw error }
        logger.warning(
            "Skipping an unreadable document or folder during indexing",
            metadata: ["file.path": "\(filePath)", "error": "\(error)"]
        )
    }
}
