internal import DocumentModel
internal import StorageIO
internal import UTF8Text

/// A walk through the folders of all documents, which lists them while it goes, since there may be very many.
struct DocumentFolderWalk {
    /// A document file in a collection's folder.
    struct Entry {
        /// The name of the file.
        let name: String
        /// The ID encoded in the name; `nil` if the name is shortened.
        let id: DocumentPath.ID?
        let collection: CollectionPath
        /// The path of the folder.
        let folderPath: String
    }

    /// An entry of any kind. It is valid until the next one is read.
    struct FolderItem {
        /// The entry by its name and type.
        let entry: FolderEntry
        /// The bytes of the name.
        let bytes: UnsafeBufferPointer<UInt8>
        /// The place of the folder.
        let location: DocumentLocation
        /// The path of the folder.
        let folderPath: String

        /// The name, with invalid UTF-8 replaced.
        var name: String { String(decoding: bytes, as: UTF8.self) }
    }

    typealias Body = (Entry, borrowing FileDescriptor) throws(StatusError) -> Void

    let folders: DocumentFolders
    /// Called with the path and the error of a folder that cannot be opened or listed. The walk skips the folder, or ends if this throws.
    let skip: (String, StatusError) throws(StatusError) -> Void

    /// Calls `body` with each document file and its open folder.
    func forEachDocument(_ body: Body) throws(StatusError) {
        try forEachEntry { item, folder throws(StatusError) in
            guard case (.document(let id), .collection(let collection)) = (item.entry, item.location) else { return }
            try body(Entry(name: item.name, id: id, collection: collection, folderPath: item.folderPath), folder)
        }
    }

    /// Calls `body` with each entry in and below a location, and its open folder: all those of a folder, then those of its subfolders.
    ///
    /// - Parameter willList: Called before each folder is listed.
    func forEachEntry(
        in location: DocumentLocation = .root,
        willList: (borrowing FileDescriptor, DocumentLocation) -> Void = { _, _ in },
        _ body: (FolderItem, borrowing FileDescriptor) throws(StatusError) -> Void
    ) throws(StatusError) {
        let segments = location.segments
        let folderPath = folders.folderPath(segments)
        let opened: FileDescriptor?
        do throws(StatusError) {
            opened = try folders.open(segments)
        } catch {
            return try skip(folderPath, error)
        }
        guard let folder = opened else { return }
        try walk(folder, location, folderPath, depth: segments.count, willList, body)
    }

    private func walk(
        _ folder: borrowing FileDescriptor,
        _ location: DocumentLocation,
        _ folderPath: String,
        depth: Int,
        _ willList: (borrowing FileDescriptor, DocumentLocation) -> Void,
        _ body: (FolderItem, borrowing FileDescriptor) throws(StatusError) -> Void
    ) throws(StatusError) {
        // Below the maximum depth there are no documents.
        guard depth < 2 * DocumentLimits.maximumSubcollectionDepth else { return }
        willList(folder, location)
        var inner: [(name: String, key: UTF8Key?)] = []
        var failure: StatusError?
        do throws(FileSystemError) {
            var listing = try folder.openForListing()
            while let found = try listing.next() {
                // An entry that was removed in the meantime has no kind.
                guard let kind = try folder.kind(of: found) else { continue }
                let entry = FolderEntry(found.bytes, kind, at: location.level, naming: folders.naming)
                if case .folder(let key) = entry { inner.append((found.text, key)) }
                do throws(StatusError) {
                    let item = FolderItem(entry: entry, bytes: found.bytes, location: location, folderPath: folderPath)
                    try body(item, folder)
                } catch {
                    failure = error
                    break
                }
            }
        } catch {
            try skip(folderPath, error.status("list", folderPath))
        }
        if let failure { throw failure }
        for (name, key) in inner {
            guard let opened = try open(name, key, in: folder, location, folderPath) else { continue }
            try walk(opened.folder, opened.location, opened.filePath, depth: depth + 1, willList, body)
        }
    }

    private struct OpenFolder: ~Copyable {
        let folder: FileDescriptor
        let location: DocumentLocation
        let filePath: String
    }

    /// Opens the folder of a collection or a document; `nil` if it is neither, or cannot be opened.
    private func open(
        _ name: String,
        _ key: UTF8Key?,
        in folder: borrowing FileDescriptor,
        _ location: DocumentLocation,
        _ folderPath: String
    ) throws(StatusError) -> OpenFolder? {
        let filePath = folderPath + "/" + name
        do throws(StatusError) {
            guard let id = try folders.id(ofFolder: name, key, in: folder, folderPath),
                let inner = location.location(ofFolder: id)
            else { return nil }
            let opened = try reporting("open", filePath) { () throws(FileSystemError) in try folder.openFolderIfPresent(name) }
            guard let opened else { return nil }
            return OpenFolder(folder: opened, location: inner, filePath: filePath)
        } catch {
            try skip(filePath, error)
            return nil
        }
    }
}
