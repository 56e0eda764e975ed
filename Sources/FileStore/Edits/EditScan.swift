internal import DocumentModel
internal import Glibc
internal import StorageIO

/// A scan of folders for files that may have been edited while nobody watched them. It watches them from then on.
struct EditScan {
    /// The findings of a scan.
    struct Result: Sendable {
        /// The files that have changed since the given time.
        var candidates: [DocumentPath] = []
        /// The files with rejected edits.
        var rejected: [RejectedEdit] = []
        /// The entries that are neither documents nor folders of documents.
        var foreign: [ForeignEntry] = []
        /// The numbers of document files in the scanned collections.
        var counts: [CollectionPath: Int] = [:]
        /// The error of the system if it has refused a watch.
        var refusal: FileSystemError?
    }

    private let folders: DocumentFolders
    private let events: FolderEventQueue?
    private let time: Int64
    private let didWatch: (FolderEventQueue.Watch, DocumentLocation) -> Void
    /// The last folder that was moved since the given time, with all that is in it.
    private var moved: DocumentLocation?
    private(set) var result = Result()

    /// - Parameters:
    ///   - events: The queue of changes; `nil` if there is none.
    ///   - time: The time in microseconds since 1970 after which a file's status has changed if it was edited; `.min` if all may have
    ///     been.
    ///   - didWatch: Called for each folder that is watched, before it is listed.
    init(
        _ folders: DocumentFolders,
        _ events: FolderEventQueue?,
        since time: Int64,
        didWatch: @escaping (FolderEventQueue.Watch, DocumentLocation) -> Void
    ) {
        self.folders = folders
        self.events = events
        self.time = time
        self.didWatch = didWatch
    }

    /// Scans the folder of a location, if there is one, and all folders in it.
    mutating func run(_ location: DocumentLocation) throws(StatusError) {
        let walk = DocumentFolderWalk(folders: folders) { _, error throws(StatusError) in
            // The name may be that of a link or a file.
            guard error.affectsSingleFile else { throw error }
        }
        var collection: (path: CollectionPath, count: Int)?
        try walk.forEachEntry(in: location) { folder, location in
            add(collection)
            collection = if case .collection(let path) = location { (path, 0) } else { nil }
            watch(folder, location)
            if !(moved?.contains(location) ?? false) { moved = isMoved(folder) ? location : nil }
        } _: { item, folder throws(StatusError) in
            switch (item.entry, item.location) {
            case (.document(let id), .collection(let path)):
                collection?.count += 1
                // The ID of a shortened name is in the file, which the index has as well.
                guard let id, isChanged(item.name, in: folder) else { break }
                result.candidates.append(path.document(id))
            case (.ignored, .collection(let path)):
                if let edit = RejectedEdit(item.name, in: path) { result.rejected.append(edit) }
            case (.foreign, _): result.foreign.append(ForeignEntry(location: item.location, name: Array(item.bytes)))
            default: break
            }
        }
        add(collection)
    }

    private mutating func add(_ collection: (path: CollectionPath, count: Int)?) {
        if let collection { result.counts[collection.path] = collection.count }
    }

    private mutating func watch(_ folder: borrowing FileDescriptor, _ location: DocumentLocation) {
        guard let events, result.refusal == nil else { return }
        guard folder.reportsAllChanges else {
            result.refusal = FileSystemError("inotify_add_watch", code: EOPNOTSUPP)
            return
        }
        do throws(FileSystemError) {
            didWatch(try events.watch(folder), location)
        } catch {
            result.refusal = error
        }
    }

    /// Returns whether a folder may have been renamed since the given time, which leaves the times of its files as they are. A change of
    /// its entries sets both of its times.
    private func isMoved(_ folder: borrowing FileDescriptor) -> Bool {
        guard time > .min, let status = try? folder.status() else { return false }
        return status.changeMicroseconds > max(time, status.identity.modifiedMicroseconds)
    }

    private func isChanged(_ name: String, in folder: borrowing FileDescriptor) -> Bool {
        guard time > .min, moved == nil else { return true }
        guard let status = try? folder.status(of: name) else { return false }
        return status.changeMicroseconds > time
    }
}
