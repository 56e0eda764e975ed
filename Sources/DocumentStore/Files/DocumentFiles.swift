internal import DocumentModel
internal import StrictJSON

/// Reads documents from their files.
struct DocumentFiles: Sendable {
    let folders: DocumentFolders
    /// What changes while folders are listed.
    let log: InstallationLog
    private let cache: DocumentCache
    let samples = FolderSamples()

    init(_ folders: DocumentFolders, cache: DocumentCache, log: InstallationLog) {
        self.folders = folders
        self.cache = cache
        self.log = log
    }

    /// The document at `path`, or nil when it has no file.
    ///
    /// - Throws: `.dataLoss` with the place in the file when it is damaged.
    func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        guard let folder = try folders.open(path.collection.segments) else { return nil }
        return try document(at: path, in: folder)
    }

    /// The document at `path`, where it is known and the system can tell from memory that its file is still the same; else nil.
    /// Waits for no disk of this machine.
    func documentInMemory(at path: DocumentPath) -> EncodedDocument? {
        guard let entry = cache.entry(at: path), folders.statusInMemory(of: path)?.identity == entry.identity else { return nil }
        return entry.document
    }

    /// What is in the file of the document at `path`, right or damaged; nil when it has none.
    ///
    /// - Throws: `.dataLoss` when it is no file, or larger than any document's.
    func bytes(of path: DocumentPath) throws(StatusError) -> [UInt8]? {
        guard let folder = try folders.open(path.collection.segments) else { return nil }
        return try contents(folders.naming.file(of: path.id).text, id: path.id, in: path.collection, folder)?.bytes
    }

    /// The document at `path`, whose collection's folder is open.
    func document(at path: DocumentPath, in folder: borrowing FileDescriptor) throws(StatusError) -> EncodedDocument? {
        let name = folders.naming.file(of: path.id).text
        do throws(SystemError) {
            if let entry = cache.entry(at: path), try folder.status(of: name)?.identity == entry.identity {
                return entry.document
            }
        } catch {
            throw error.status("look at", place(of: path))
        }
        guard let document = try read(name, id: path.id, in: path.collection, folder) else { return nil }
        // Only a shortened name can be that of another document, and only by a hash that has been broken.
        guard document.path == path else {
            throw StatusError(
                .internal,
                "The file \(place(of: path)) in the data folder holds another document, \(document.path)."
            )
        }
        return document
    }

    /// Reads a file of a collection's folder, whatever document it holds; nil when there is none.
    ///
    /// - Parameter id: The ID that the file's name stands for, or nil when only the file can tell.
    func read(
        _ name: String,
        id: DocumentID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor
    ) throws(StatusError) -> EncodedDocument? {
        guard let contents = try contents(name, id: id, in: collection, folder) else { return nil }
        let document = try DocumentFile.decodeEncoded(
            contents.bytes,
            in: collection,
            id: idOutsideFile(id),
            file: place(name, in: collection)
        )
        if contents.isSettled { cache.insertRead(document, identity: contents.status.identity) }
        return document
    }

    /// Reads a file of a collection's folder like ``read(_:id:in:_:)``, past the cache.
    func readDecoded(
        _ name: String,
        id: DocumentID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor
    ) throws(StatusError) -> Document? {
        guard let contents = try contents(name, id: id, in: collection, folder) else { return nil }
        return try DocumentFile.decode(contents.bytes, in: collection, id: idOutsideFile(id), file: place(name, in: collection))
    }

    /// The path of a document's file in the data folder.
    func place(of path: DocumentPath) -> String {
        folders.place(path.collection.segments) + "/" + folders.naming.file(of: path.id).text
    }
}

extension DocumentFiles {
    /// No layout of the largest document comes near.
    private static let maximumFileBytes = 64 << 20

    private struct Contents {
        let status: FileStatus
        /// What is in the file; nothing when it can't be a document's.
        var bytes: [UInt8] = []
        /// Whether it is still as it was when reading began, and nobody can be expected to be writing it.
        var isSettled = false
    }

    /// What is in a file of a collection's folder; nil when there is none.
    private func contents(
        _ name: String,
        id: DocumentID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor
    ) throws(StatusError) -> Contents? {
        // Made only where something is wrong.
        var place: String { self.place(name, in: collection) }
        var path: String { id.map { collection.document($0).string } ?? collection.string }
        let contents: Contents
        do throws(SystemError) {
            contents = try Self.contents(of: folder.openFile(name, for: .reading))
        } catch {
            if error.isNotFound { return nil }
            // Links and sockets can't be opened as files.
            if let kind = try? folder.status(of: name)?.kind, let fault = Self.fault(of: kind) {
                throw Self.damaged(fault, place, path: path)
            }
            throw error.status("read", place).concerning(place, path: path)
        }
        if let fault = Self.fault(of: contents.status.kind) { throw Self.damaged(fault, place, path: path) }
        guard contents.status.size <= Self.maximumFileBytes else {
            throw Self.damaged(
                "The file has \(contents.status.size) bytes, more than any document. Move it out of the data folder.",
                place,
                path: path
            )
        }
        return contents
    }

    /// The ID to give to a document whose file doesn't hold it.
    private func idOutsideFile(_ id: DocumentID?) -> DocumentID? {
        guard let id, !folders.naming.file(of: id).isShortened else { return nil }
        return id
    }

    private func place(_ name: String, in collection: CollectionPath) -> String {
        folders.place(collection.segments) + "/" + name
    }

    private static func contents(of file: consuming FileDescriptor) throws(SystemError) -> Contents {
        var contents = Contents(status: try file.status())
        guard contents.status.kind == .file, contents.status.size <= maximumFileBytes else { return contents }
        contents.bytes = try file.read(contents.status.size)
        let identity = try file.status().identity
        contents.isSettled = identity == contents.status.identity && identity.isOlder(thanSeconds: settlingSeconds)
        return contents
    }

    /// For as long after a change a person's program may still be writing a file in place: the system notes the time of a write before
    /// it copies the bytes, so a file that is half written then does not look changed afterwards.
    private static let settlingSeconds: Int64 = 1

    /// What is wrong with what has a document's name; nil for a file.
    private static func fault(of kind: FileStatus.Kind) -> String? {
        FolderEntry.fault(of: kind, isNamedAsDocument: true)
    }

    /// The error for something that stands where a document or a collection should be, and is none.
    static func damaged(_ message: String, _ place: String, path: String? = nil) -> StatusError {
        StatusError(.dataLoss, message, path: path, file: StatusError.FileLocation(path: place))
    }
}

extension DocumentFiles {
    /// The document at `path` as the disk has it: what the system holds of the file in memory, and may have failed to write, is
    /// dropped first.
    func documentOnDisk(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        guard let folder = try folders.open(path.collection.segments) else { return nil }
        let name = folders.naming.file(of: path.id).text
        try reporting("read", place(of: path)) { () throws(SystemError) in
            let file = try folder.openFile(name, for: .reading)
            try file.synchronize()
            try file.dropCached()
        }
        return try read(name, id: path.id, in: path.collection, folder)
    }
}
