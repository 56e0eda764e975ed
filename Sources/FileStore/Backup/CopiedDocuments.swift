internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO

/// The document files of a copied data folder that nobody else knows, to which commits are applied.
struct CopiedDocuments: ~Copyable {
    private var writer: DocumentFileWriter
    private var emptied: Set<CollectionPath> = []
    private let logger: Logger

    init(in data: DataFolder, logger: Logger) {
        let cache = DocumentCache(maximumBytes: 0)
        writer = DocumentFileWriter(DocumentFiles(DocumentFolders(data), cache: cache, log: ApplyLog()), cache: cache)
        self.logger = logger
    }

    /// Returns a document's file, relative to the data folder.
    func filePath(of path: DocumentPath) -> String {
        writer.files.filePath(of: path)
    }

    /// Brings a document to its state after a commit, unless its file is of a later one, or was edited after it. Called in the order of
    /// the commits, so that the last one to change a document decides.
    ///
    /// - Returns: `true` if the file was written or removed.
    @discardableResult
    mutating func apply(_ path: DocumentPath, _ image: EncodedDocument?, of time: Timestamp) throws(StatusError) -> Bool {
        let state = CommittedState(document: image, time: time)
        let isChanged = try writer.restore(path, to: state, rewritingSame: false, logger: logger)
        if isChanged, image == nil { emptied.insert(path.collection) }
        return isChanged
    }

    /// Removes the folders of collections that have become empty.
    mutating func finish() {
        writer.removeEmptyFolders(of: emptied)
        writer.endBatch()
    }
}
