internal import Dispatch
internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// A scan of all documents in their files, on a thread of its own, up to two batches ahead of the consumer.
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
    private let position: @Sendable () -> SequenceNumber
    private let logger: Logger

    /// The approximate size of a batch.
    private static let batchBytes = 8 << 20
    /// The approximate overhead of a document.
    private static let documentOverheadBytes = 256

    /// Starts a scan.
    ///
    /// - Parameter position: Returns the last commit whose document files are in place.
    init(_ data: DataFolder, position: @escaping @Sendable () -> SequenceNumber, logger: Logger) {
        // Each document is read once, so a cache would not help.
        files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: ApplyLog())
        self.position = position
        self.logger = logger
        DispatchQueue(label: "hearth.index.scan", qos: .utility).async { self.run() }
    }

    /// Waits for the next batch; nil at the end.
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
        var batch = DocumentBatch(position: position())
        let result = Result { () throws(StatusError) in
            guard let top = try files.folders.open([]) else { return }
            try readCollections(top, below: nil, DataFolder.documentsName, depth: 0, &batch)
            try emit(&batch)
        }
        put(.end(result))
    }

    private func emit(_ batch: inout DocumentBatch) throws(StatusError) {
        put(.batch(batch))
        guard !state.withLock({ $0.isCancelled }) else { throw StatusError(.cancelled, "Building the index was cancelled.") }
        batch = DocumentBatch(position: position())
    }

    private func put(_ output: Output) {
        freeSlots.wait()
        state.withLock { $0.outputs.append(output) }
        filledSlots.signal()
    }
}

extension DocumentFileScanner {
    /// Reads the collections below a document, or at the top level, and emits full batches.
    private func readCollections(
        _ folder: borrowing FileDescriptor,
        below parent: DocumentPath?,
        _ filePath: String,
        depth: Int,
        _ batch: inout DocumentBatch
    ) throws(StatusError) {
        // Below the maximum depth there are no documents.
        guard depth < DocumentLimits.maximumSubcollectionDepth else { return }
        var folders: [(name: String, key: UTF8Key?)] = []
        try forEachEntry(of: folder, filePath, at: .belowDocument) { name, entry throws(StatusError) in
            if case .folder(let key) = entry { folders.append((name, key)) }
        }
        for (name, key) in folders {
            guard let inner = try open(name, key, in: folder, filePath), let id = try? CollectionID(inner.id.string) else {
                continue
            }
            let collection = CollectionPath(parent: parent, id: id)
            try readCollection(inner.folder, collection, inner.filePath, depth: depth, &batch)
        }
    }

    private func readCollection(
        _ folder: borrowing FileDescriptor,
        _ collection: CollectionPath,
        _ filePath: String,
        depth: Int,
        _ batch: inout DocumentBatch
    ) throws(StatusError) {
        var folders: [(name: String, key: UTF8Key?)] = []
        try forEachEntry(of: folder, filePath, at: .collection) { name, entry throws(StatusError) in
            switch entry {
            case .document(let id): try read(name, id, in: collection, folder, filePath, &batch)
            case .folder(let key): folders.append((name, key))
            case .foreign, .ignored: break
            }
            if batch.byteCount >= Self.batchBytes { try emit(&batch) }
        }
        for (name, key) in folders {
            guard let inner = try open(name, key, in: folder, filePath), let id = try? DocumentPath.ID(inner.id.string) else {
                continue
            }
            try readCollections(inner.folder, below: collection.document(id), inner.filePath, depth: depth + 1, &batch)
        }
    }

    /// Calls `body` with each entry of a folder while it is listed, since there may be very many.
    private func forEachEntry(
        of folder: borrowing FileDescriptor,
        _ filePath: String,
        at level: FolderEntry.Level,
        _ body: (String, FolderEntry) throws(StatusError) -> Void
    ) throws(StatusError) {
        var listing = try reporting("list", filePath) { () throws(FileSystemError) in try folder.openForListing() }
        while let entry = try reporting("list", filePath, { () throws(FileSystemError) in try listing.next() }) {
            // An entry that was removed in the meantime has no kind.
            guard let kind = try reporting("list", filePath, { () throws(FileSystemError) in try folder.kind(of: entry) }) else {
                continue
            }
            try body(entry.text, FolderEntry(entry.name, kind, at: level, naming: files.folders.naming))
        }
    }

    private func read(
        _ name: String,
        _ id: DocumentPath.ID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor,
        _ folderPath: String,
        _ batch: inout DocumentBatch
    ) throws(StatusError) {
        do throws(StatusError) {
            guard let document = try files.decode(name, id: id, in: collection, folder),
                files.folders.naming.file(of: document.path.id).text.utf8.elementsEqual(name.utf8)
            else { return }
            batch.documents.append((document.path, document.fields))
            batch.byteCount += Document.size(of: document.fields, at: document.path) + Self.documentOverheadBytes
        } catch {
            try skip(folderPath + "/" + name, error)
            // Indexed by name only, so that scans by name find and report it.
            if let id { batch.documents.append((collection.document(id), MapValue())) }
        }
    }

    private struct OpenFolder: ~Copyable {
        let folder: FileDescriptor
        let id: UTF8Key
        let filePath: String
    }

    /// Opens the folder of a collection or a document; nil if it is neither, or can't be opened.
    private func open(
        _ name: String,
        _ key: UTF8Key?,
        in folder: borrowing FileDescriptor,
        _ folderPath: String
    ) throws(StatusError) -> OpenFolder? {
        let filePath = folderPath + "/" + name
        do throws(StatusError) {
            guard let id = try files.folders.id(ofFolder: name, key, in: folder, folderPath) else { return nil }
            let opened = try reporting("open", filePath) { () throws(FileSystemError) in try folder.openFolderIfPresent(name) }
            guard let opened else { return nil }
            return OpenFolder(folder: opened, id: id, filePath: filePath)
        } catch {
            try skip(filePath, error)
            return nil
        }
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
