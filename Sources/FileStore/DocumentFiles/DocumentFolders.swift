internal import DocumentModel
internal import StorageIO
internal import StrictJSON
internal import UTF8Text

/// Resolves the folders of collections and of documents' subcollections, one path segment at a time from the root.
///
/// Nothing is cached between calls, so a folder that was moved or replaced with a link is noticed immediately.
struct DocumentFolders: Sendable {
    private let data: DataFolder
    let naming: FileNaming

    init(_ data: DataFolder) {
        self.data = data
        naming = data.manifest.naming
    }

    /// Opens the folder of a path, or returns `nil` if it doesn't exist. An empty path is the root folder.
    func open(_ segments: [UTF8Key]) throws(StatusError) -> FileDescriptor? {
        guard let first = segments.first else { return try openRoot() }
        guard var folder = try open(first, in: data.documents, segments.prefix(1)) else {
            try data.checkPresence()
            return nil
        }
        for depth in segments.indices.dropFirst() {
            guard let next = try open(segments[depth], in: folder, segments.prefix(depth + 1)) else { return nil }
            folder = next
        }
        return folder
    }

    /// Returns the status of a document's file if the kernel has it cached, or `nil` otherwise, or if the path contains a link.
    func cachedStatus(of path: DocumentPath) -> FileStatus? {
        let file = folderPath(path.collection.segments) + "/" + naming.file(of: path.id).text
        guard let found = data.root.openCached(file) else { return nil }
        return try? found.status()
    }

    /// Opens the folder of a path, creating missing folders.
    func create(_ segments: [UTF8Key]) throws(StatusError) -> FileDescriptor {
        var folder = try openRoot()
        for depth in segments.indices {
            folder = try create(segments[depth], in: folder, segments.prefix(depth + 1))
        }
        return folder
    }

    /// Removes the folder of a path and its parents, up to the first that is not empty.
    func removeEmpty(_ segments: [UTF8Key]) {
        var rest = segments[...]
        while let last = rest.popLast() {
            // Best effort: an empty folder is harmless, and the next deletion retries.
            guard let parent = try? open(Array(rest)) else { return }
            let name = naming.folder(of: last)
            if name.isShortened, let folder = try? parent.openFolder(name.text), Self.isEmpty(folder) {
                _ = try? folder.removeFile(Self.idFileName)
            }
            guard (try? parent.removeFolder(name.text)) == true else { return }
        }
    }

    /// Returns the folder path of a path, relative to the data folder.
    func folderPath(_ segments: some Sequence<UTF8Key>) -> String {
        segments.reduce(DataFolder.documentsName) { $0 + "/" + naming.folder(of: $1).text }
    }

    /// Returns the file name in a file path, or `nil` if the file isn't directly in the folder of `segments`.
    func fileName(of filePath: UTF8Key, in segments: [UTF8Key]) -> String? {
        let folder = (folderPath(segments) + "/").utf8
        guard filePath.utf8.starts(with: folder) else { return nil }
        let name = filePath.utf8.dropFirst(folder.count)
        return name.contains(UInt8(ascii: "/")) ? nil : String(decoding: name, as: UTF8.self)
    }

    /// Returns the ID stored in a folder with a shortened name, or `nil` if it is missing.
    func storedID(of folder: borrowing FileDescriptor) throws(FileSystemError) -> UTF8Key? {
        do throws(FileSystemError) {
            let file = try folder.openFile(Self.idFileName, for: .reading)
            let bytes = try file.read(min(file.status().size, 16 << 10))
            return (try? JSONText(bytes))?.root[Self.idKey]?.string.map { UTF8Key($0) }
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// The name of the file that stores the ID of a folder with a shortened name.
    static let idFileName = ".hearth-id.json"
    private static let idKey: UTF8Key = "id"
}

extension DocumentFolders {
    private func openRoot() throws(StatusError) -> FileDescriptor {
        try data.checkPresence()
        return try reporting("open", DataFolder.documentsName) { () throws(FileSystemError) in try data.documents.openFolder(".")
        }
    }

    private func open(
        _ id: UTF8Key,
        in parent: borrowing FileDescriptor,
        _ path: ArraySlice<UTF8Key>
    ) throws(StatusError) -> FileDescriptor? {
        let name = naming.folder(of: id)
        let opened = try reporting("open", folderPath(path)) { () throws(FileSystemError) in
            try parent.openFolderIfPresent(name.text)
        }
        guard let folder = opened else { return nil }
        // No ID is stored if a crash happened after the folder was created.
        if name.isShortened,
            let stored = try reporting("read", folderPath(path), { () throws(FileSystemError) in try storedID(of: folder) }),
            stored != id
        {
            throw StatusError(
                .internal,
                "The folder \(folderPath(path)) in the data folder belongs to another ID, \(Excerpt(stored.string))."
            )
        }
        return folder
    }

    private func create(
        _ id: UTF8Key,
        in parent: borrowing FileDescriptor,
        _ path: ArraySlice<UTF8Key>
    ) throws(StatusError) -> FileDescriptor {
        let name = naming.folder(of: id)
        if let folder = try open(id, in: parent, path), !name.isShortened { return folder }
        return try reporting("create", folderPath(path)) { () throws(FileSystemError) in
            try parent.createFolder(name.text)
            let folder = try parent.openFolder(name.text)
            if name.isShortened, try storedID(of: folder) == nil { try store(id, in: folder) }
            return folder
        }
    }

    private func store(_ id: UTF8Key, in folder: borrowing FileDescriptor) throws(FileSystemError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(Self.idKey)
        writer.string(id.string)
        writer.endObject()
        let temporary = TemporaryName.fixed("id")
        try folder.removeFile(temporary)
        do throws(FileSystemError) {
            try folder.openFile(temporary, for: .creating).write(writer.finish())
            try folder.rename(temporary, to: Self.idFileName)
        } catch {
            _ = try? folder.removeFile(temporary)
            throw error
        }
    }

    private static func isEmpty(_ folder: borrowing FileDescriptor) -> Bool {
        guard var listing = try? folder.openForListing() else { return false }
        do throws(FileSystemError) {
            while let entry = try listing.next() {
                if !entry.bytes.elementsEqual(idFileName.utf8) { return false }
            }
            return true
        } catch {
            return false
        }
    }
}

extension DocumentFolders {
    /// Returns the ID of a folder, which is read from the folder if the name is shortened, or `nil` if the folder was just
    /// created.
    ///
    /// - Parameter key: The ID encoded in the name; `nil` if it is shortened.
    /// - Throws: `.dataLoss` if the stored ID is missing or doesn't match the name.
    func id(
        ofFolder name: String,
        _ key: UTF8Key?,
        in parent: borrowing FileDescriptor,
        _ parentPath: String
    ) throws(StatusError) -> UTF8Key? {
        if let key { return key }
        let folderPath = parentPath + "/" + name
        let found = try reporting("read", folderPath) { () throws(FileSystemError) -> StoredID in
            guard let folder = try parent.openFolderIfPresent(name) else { return .notStoredYet }
            if let id = try storedID(of: folder) { return .id(id) }
            // The ID is stored before anything else in the folder. A crash may leave the folder empty.
            guard try Self.hasVisibleEntry(folder) else { return .notStoredYet }
            return try storedID(of: folder).map(StoredID.id) ?? .missing
        }
        switch found {
        case .notStoredYet:
            return nil
        case .id(let id) where naming.folder(of: id).text.utf8.elementsEqual(name.utf8):
            return id
        case .id(let id):
            throw DocumentFiles.damaged(
                "The folder of \(Excerpt(id.string)) has a different name. \(FolderEntry.renameHint)",
                folderPath
            )
        case .missing:
            throw DocumentFiles.damaged(
                "The folder name is shortened, and the file \(Self.idFileName) in it, which stores the ID, is missing or damaged. "
                    + "Restore that file from a backup, or move the folder out of the data folder.",
                folderPath
            )
        }
    }
}

extension DocumentFolders {
    /// The result of reading the stored ID of a folder.
    private enum StoredID {
        case id(UTF8Key)
        case notStoredYet
        case missing
    }

    private static func hasVisibleEntry(_ folder: borrowing FileDescriptor) throws(FileSystemError) -> Bool {
        var listing = try folder.openForListing()
        while let entry = try listing.next() {
            if entry.bytes.first != UInt8(ascii: ".") { return true }
        }
        return false
    }
}
