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

    typealias Body = (Entry, borrowing FileDescriptor) throws(StatusError) -> Void

    let files: DocumentFiles
    /// Called with the path and the error of a folder that cannot be opened. The walk skips the folder, or ends if this throws.
    let skip: (String, StatusError) throws(StatusError) -> Void

    /// Calls `body` with each document file and its open folder.
    func forEachDocument(_ body: Body) throws(StatusError) {
        guard let top = try files.folders.open([]) else { return }
        try walkCollections(top, below: nil, DataFolder.documentsName, depth: 0, body)
    }

    /// Walks through the collections below a document, or at the top level.
    private func walkCollections(
        _ folder: borrowing FileDescriptor,
        below parent: DocumentPath?,
        _ filePath: String,
        depth: Int,
        _ body: Body
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
            try walkCollection(inner.folder, collection, inner.filePath, depth: depth, body)
        }
    }

    private func walkCollection(
        _ folder: borrowing FileDescriptor,
        _ collection: CollectionPath,
        _ filePath: String,
        depth: Int,
        _ body: Body
    ) throws(StatusError) {
        var folders: [(name: String, key: UTF8Key?)] = []
        try forEachEntry(of: folder, filePath, at: .collection) { name, entry throws(StatusError) in
            switch entry {
            case .document(let id):
                try body(Entry(name: name, id: id, collection: collection, folderPath: filePath), folder)
            case .folder(let key): folders.append((name, key))
            case .foreign, .ignored: break
            }
        }
        for (name, key) in folders {
            guard let inner = try open(name, key, in: folder, filePath), let id = try? DocumentPath.ID(inner.id.string) else {
                continue
            }
            try walkCollections(inner.folder, below: collection.document(id), inner.filePath, depth: depth + 1, body)
        }
    }

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
            try body(entry.text, FolderEntry(entry.bytes, kind, at: level, naming: files.folders.naming))
        }
    }

    private struct OpenFolder: ~Copyable {
        let folder: FileDescriptor
        let id: UTF8Key
        let filePath: String
    }

    /// Opens the folder of a collection or a document; `nil` if it is neither, or cannot be opened.
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
}
