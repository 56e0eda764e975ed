internal import Dispatch
internal import DocumentModel
internal import Glibc
internal import Logging
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// A search for document files that were edited while the store was closed, in the background after it was opened.
///
/// Looks at the modification time of every file, and reads only those that are later than the last record of the store's state in
/// the manifest. A file is edited if its modification time is also later than the update time in it: the store sets the time of its
/// own files to that. Removed files are not noticed, nor are files that other programs gave an earlier time.
///
/// It uses one thread, and sleeps most of the time, so that the start of a large store is not slowed down.
final class EditedFileSearch: Sendable {
    fileprivate struct Result {
        var count = 0
        /// The paths of the first files, in the order of the listings.
        var first: [String] = []
    }

    fileprivate let files: DocumentFiles
    /// The modification time of the manifest when the store was opened, in microseconds since 1970.
    fileprivate let stopTime: Int64
    private let logger: Logger
    fileprivate let isStopped = Mutex(false)
    private let completion = DispatchGroup()

    /// The number of files between two pauses.
    fileprivate static let stepCount = 256
    /// The length of a pause, as a multiple of the time before it.
    fileprivate static let pauseRatio = 3.0
    /// The maximum number of paths in the log.
    fileprivate static let loggedCount = 5

    init(_ data: DataFolder, since stopTime: Int64, logger: Logger) {
        files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: ApplyLog())
        self.stopTime = stopTime
        self.logger = logger
    }

    /// Starts to search.
    func start() {
        DispatchQueue(label: "hearth.edits", qos: .background).async(group: completion) { self.run() }
    }

    /// Ends the search without a log entry.
    func stop() {
        isStopped.withLock { $0 = true }
    }

    /// Waits for the end of the search.
    func wait() async {
        await withCheckedContinuation { continuation in
            completion.notify(queue: .global()) { continuation.resume() }
        }
    }

    private func run() {
        var walk = Walk(search: self)
        do throws(StatusError) {
            if let top = try files.folders.open([]) {
                try walk.readCollections(top, below: nil, DataFolder.documentsName, depth: 0)
            }
        } catch {
            // Cancelled, or the folder is unreadable, which reads report.
            return
        }
        guard walk.result.count > 0 else { return }
        logger.warning(
            """
            Document files were edited while the server was stopped. Stop it and run hearth check --repair, so that queries and \
            sums include the edits
            """,
            metadata: [
                "store.edited_documents": "\(walk.result.count)",
                "file.paths": "\(walk.result.first.joined(separator: ", "))",
            ]
        )
    }

    /// The state of the search on its thread.
    fileprivate struct Walk {
        let search: EditedFileSearch
        var result = Result()
        private var stepStart = ContinuousClock.now
        private var step = 0

        init(search: EditedFileSearch) {
            self.search = search
        }
    }
}

extension EditedFileSearch.Walk {
    private var files: DocumentFiles { search.files }

    /// Searches the collections below a document, or at the top level.
    mutating func readCollections(
        _ folder: borrowing FileDescriptor,
        below parent: DocumentPath?,
        _ filePath: String,
        depth: Int
    ) throws(StatusError) {
        // Below the maximum depth there are no documents.
        guard depth < DocumentLimits.maximumSubcollectionDepth else { return }
        for (name, key) in try read(folder, filePath, in: nil) {
            guard let (inner, id) = try open(name, key, in: folder, filePath), let id = try? CollectionID(id.string) else {
                continue
            }
            let collection = CollectionPath(parent: parent, id: id)
            try readCollection(inner.descriptor, collection, filePath + "/" + name, depth: depth)
        }
    }

    private mutating func readCollection(
        _ folder: borrowing FileDescriptor,
        _ collection: CollectionPath,
        _ filePath: String,
        depth: Int
    ) throws(StatusError) {
        for (name, key) in try read(folder, filePath, in: collection) {
            guard let (inner, id) = try open(name, key, in: folder, filePath), let id = try? DocumentPath.ID(id.string) else {
                continue
            }
            try readCollections(inner.descriptor, below: collection.document(id), filePath + "/" + name, depth: depth + 1)
        }
    }

    /// Looks at the document files in a folder; returns its subfolders.
    ///
    /// - Parameter collection: The collection of the folder; `nil` if it contains collections.
    private mutating func read(
        _ folder: borrowing FileDescriptor,
        _ filePath: String,
        in collection: CollectionPath?
    ) throws(StatusError) -> [(name: String, key: UTF8Key?)] {
        var folders: [(name: String, key: UTF8Key?)] = []
        let naming = files.folders
        do throws(StatusError) {
            try naming.forEachEntry(of: folder, filePath, at: collection == nil ? .belowDocument : .collection) {
                name,
                entry throws(StatusError) in
                try pauseIfDue()
                switch entry {
                case .document(let id):
                    guard let collection else { break }
                    if isEdited(name, id: id, in: collection, folder) { add(filePath + "/" + name) }
                case .folder(let key): folders.append((name, key))
                case .foreign, .ignored: break
                }
                return true
            }
        } catch {
            guard error.affectsSingleFile else { throw error }
        }
        return folders
    }

    private func isEdited(
        _ name: String,
        id: DocumentPath.ID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor
    ) -> Bool {
        guard let modified = try? folder.status(of: name)?.identity.modifiedMicroseconds, modified > search.stopTime else {
            return false
        }
        do throws(StatusError) {
            guard let (document, _) = try files.decode(name, id: id, in: collection, folder) else { return false }
            return modified > document.updateTime.microseconds
        } catch {
            // Damaged since the stop.
            return error.code == .dataLoss
        }
    }

    private mutating func add(_ filePath: String) {
        result.count += 1
        if result.first.count < EditedFileSearch.loggedCount { result.first.append(filePath) }
    }

    /// Sleeps after each step, for longer than it took.
    private mutating func pauseIfDue() throws(StatusError) {
        step += 1
        guard step.isMultiple(of: EditedFileSearch.stepCount) else { return }
        guard !search.isStopped.withLock({ $0 }) else { throw StatusError(.cancelled, "The store is being closed.") }
        let pause = (ContinuousClock.now - stepStart) * EditedFileSearch.pauseRatio
        search.sleep(min(pause, .seconds(1)))
        stepStart = .now
    }

    private func open(
        _ name: String,
        _ key: UTF8Key?,
        in folder: borrowing FileDescriptor,
        _ folderPath: String
    ) throws(StatusError) -> (folder: SharedFileDescriptor, id: UTF8Key)? {
        do throws(StatusError) {
            guard let id = try files.folders.id(ofFolder: name, key, in: folder, folderPath) else { return nil }
            let opened = try reporting("open", folderPath + "/" + name) { () throws(FileSystemError) in
                try folder.openFolderIfPresent(name)
            }
            guard let opened else { return nil }
            return (SharedFileDescriptor(opened), id)
        } catch {
            guard error.affectsSingleFile else { throw error }
            return nil
        }
    }
}

extension EditedFileSearch {
    fileprivate func sleep(_ duration: Duration) {
        usleep(UInt32(max(0, duration / .microseconds(1))))
    }
}
