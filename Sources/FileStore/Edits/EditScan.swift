internal import DocumentModel
internal import Glibc
internal import StorageIO
internal import UTF8Text

/// A scan of folders for files that may have been edited while nobody watched them. It watches them from then on.
struct EditScan {
    /// The findings of a scan.
    struct Result: Sendable {
        /// The files that have changed since the given time.
        var candidates: [DocumentPath] = []
        /// The files with rejected edits.
        var rejected: [RejectedEdit] = []
        /// The numbers of document files in the scanned collections.
        var counts: [CollectionPath: Int] = [:]
        /// The error of the system if it has refused a watch.
        var refusal: FileSystemError?
    }

    private let folders: DocumentFolders
    private let events: FolderEventQueue?
    private let time: Int64
    private let didWatch: (FolderEventQueue.Watch, DocumentLocation) -> Void
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
        do throws(StatusError) {
            guard let folder = try folders.open(location.segments) else { return }
            try scan(folder, location, folders.folderPath(location.segments), depth: location.segments.count)
        } catch {
            // The name is that of a link or a file.
            guard error.affectsSingleFile else { throw error }
        }
    }

    private mutating func scan(
        _ folder: borrowing FileDescriptor,
        _ location: DocumentLocation,
        _ folderPath: String,
        depth: Int
    ) throws(StatusError) {
        // Below the maximum depth there are no documents.
        guard depth <= 2 * DocumentLimits.maximumSubcollectionDepth else { return }
        watch(folder, location)
        var inner: [(name: String, key: UTF8Key?)] = []
        var count = 0
        try folders.forEachEntry(of: folder, folderPath, at: location.level) { name, entry throws(StatusError) in
            switch (entry, location) {
            case (.document(let id), .collection(let collection)):
                count += 1
                // The ID of a shortened name is in the file, which the index has as well.
                guard let id, isChanged(name, in: folder) else { break }
                result.candidates.append(collection.document(id))
            case (.folder(let key), _): inner.append((name, key))
            case (.ignored, .collection(let collection)):
                if let edit = RejectedEdit(name, in: collection) { result.rejected.append(edit) }
            default: break
            }
            return true
        }
        if case .collection(let collection) = location { result.counts[collection] = count }
        for (name, key) in inner {
            do throws(StatusError) {
                guard let id = try folders.id(ofFolder: name, key, in: folder, folderPath),
                    let innerLocation = location.location(ofFolder: id)
                else { continue }
                let path = folderPath + "/" + name
                let opened = try reporting("open", path) { () throws(FileSystemError) in try folder.openFolderIfPresent(name) }
                guard let opened else { continue }
                try scan(opened, innerLocation, path, depth: depth + 1)
            } catch {
                guard error.affectsSingleFile else { throw error }
            }
        }
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

    private func isChanged(_ name: String, in folder: borrowing FileDescriptor) -> Bool {
        guard time > .min else { return true }
        guard let status = try? folder.status(of: name) else { return false }
        return status.changeMicroseconds > time
    }
}
