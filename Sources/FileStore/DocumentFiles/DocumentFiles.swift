internal import DocumentModel
internal import DocumentStore
internal import StorageIO

/// A reader of document files.
struct DocumentFiles: Sendable {
    let folders: DocumentFolders
    /// The log of file changes during listings.
    let log: ApplyLog
    private let cache: DocumentCache
    /// The watch of the folders that lists and queries read; `nil` for none.
    let watch: DocumentFolderWatch?
    let hints = NonEmptyFolderHints()
    /// The update time after which every file of the store has its document's update time as modification time, so that a later
    /// one shows an edit; `nil` if edits are not looked for.
    private let datedAfter: Timestamp?

    init(
        _ folders: DocumentFolders,
        cache: DocumentCache,
        log: ApplyLog,
        watch: DocumentFolderWatch? = nil,
        datedAfter: Timestamp? = nil
    ) {
        self.folders = folders
        self.cache = cache
        self.watch = watch
        self.log = log
        self.datedAfter = datedAfter
    }

    /// Returns the document at `path`, or `nil` if it has no file.
    ///
    /// - Throws: `.dataLoss` with the location in the file if it is damaged.
    func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        guard let folder = try folders.open(path.collection.segments) else { return nil }
        return try document(at: path, in: folder)
    }

    /// Returns the document at `path` if it is cached and the kernel can confirm from its cache that the file is unchanged.
    ///
    /// Never waits for the disk.
    func cachedDocument(at path: DocumentPath) -> EncodedDocument? {
        guard let entry = cache.entry(at: path), folders.cachedStatus(of: path)?.identity == entry.identity else { return nil }
        return entry.document
    }

    /// Returns the raw contents of a document's file, even if it is damaged, or `nil` if there is none.
    ///
    /// - Throws: `.dataLoss` if it is not a regular file, or larger than any document file.
    func bytes(of path: DocumentPath) throws(StatusError) -> [UInt8]? {
        guard let folder = try folders.open(path.collection.segments) else { return nil }
        return try contents(folders.naming.file(of: path.id).text, id: path.id, in: path.collection, folder)?.bytes
    }

    /// Opens the folder of a collection for the reads of a list or query, or returns `nil` if it doesn't exist.
    ///
    /// - Parameter asksForChanges: False to get the status of each file that is read.
    func openFolder(of collection: CollectionPath, asksForChanges: Bool = true) throws(StatusError) -> CollectionFolder? {
        guard let folder = try folders.open(collection.segments) else { return nil }
        return CollectionFolder(folder, asksForChanges ? watch : nil)
    }

    /// Returns the document at `path` from the open folder of its collection, as of the start of the operation or later.
    func document(at path: DocumentPath, in folder: CollectionFolder) throws(StatusError) -> EncodedDocument? {
        try document(at: path, in: folder.descriptor, folder.changesForNextRead())
    }

    /// Returns the document at `path` from the open folder of its collection.
    ///
    /// - Parameter changes: The changes to the folder; `nil` if any file may have changed.
    func document(
        at path: DocumentPath,
        in folder: borrowing FileDescriptor,
        _ changes: FolderChanges? = nil
    ) throws(StatusError) -> EncodedDocument? {
        let entry = cache.entry(at: path)
        if let entry, let verified = entry.verified, let changes,
            !changes.mayInclude(folders.naming.file(of: path.id).text, after: verified)
        {
            return entry.document
        }
        let name = folders.naming.file(of: path.id).text
        do throws(FileSystemError) {
            if let entry, let status = try folder.status(of: name), status.identity == entry.identity {
                // A file with other names can be changed in other folders.
                if let changes, status.linkCount == 1 {
                    cache.recordVerification(of: path, identity: entry.identity, at: changes.position)
                }
                return entry.document
            }
        } catch {
            throw error.status("get the status of", filePath(of: path))
        }
        guard let document = try read(name, id: path.id, in: path.collection, folder, changes) else { return nil }
        // Possible only with a shortened name and a hash collision.
        guard document.path == path else {
            throw StatusError(
                .internal,
                "The file \(filePath(of: path)) in the data folder contains another document, \(document.path)."
            )
        }
        return document
    }

    /// Reads a document file in a collection's folder, or returns `nil` if it doesn't exist.
    ///
    /// - Parameters:
    ///   - id: The ID encoded in the file name, or `nil` if the name is shortened.
    ///   - changes: The changes to the folder, if they are known.
    func read(
        _ name: String,
        id: DocumentPath.ID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor,
        _ changes: FolderChanges? = nil
    ) throws(StatusError) -> EncodedDocument? {
        guard let contents = try contents(name, id: id, in: collection, folder) else { return nil }
        var document = try DocumentFile.decodeEncoded(
            contents.bytes,
            in: collection,
            id: idFromFileName(id),
            file: filePath(name, in: collection)
        )
        let editTime = editTime(of: document.updateTime, contents.status.identity)
        if let editTime { document = document.updated(at: editTime) }
        if contents.isStable {
            let verified = contents.status.linkCount == 1 ? changes?.position : nil
            cache.insertRead(
                document,
                identity: contents.status.identity,
                verified: verified,
                isEdited: editTime != nil
            )
        }
        return document
    }

    /// Reads a document file like ``read(_:id:in:_:)``, bypassing the cache, with the update time that the file states; returns the
    /// document and the size of the file.
    func decode(
        _ name: String,
        id: DocumentPath.ID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor
    ) throws(StatusError) -> (document: Document, byteCount: Int)? {
        guard let contents = try contents(name, id: id, in: collection, folder, verifyingStability: false) else { return nil }
        let document = try DocumentFile.decode(
            contents.bytes,
            in: collection,
            id: idFromFileName(id),
            file: filePath(name, in: collection)
        )
        return (document, contents.bytes.count)
    }

    /// Reads a file that another program may have written, or returns `nil` if it doesn't exist.
    ///
    /// - Parameter id: The ID of the document; `nil` if only the file contains it.
    func edited(
        _ name: String,
        id: DocumentPath.ID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor
    ) throws(StatusError) -> (identity: FileIdentity, contents: FileEdit.Contents)? {
        guard let file = try contents(name, id: id, in: collection, folder) else { return nil }
        let contents = try DocumentFile.decodeContents(
            file.bytes,
            in: collection,
            id: idFromFileName(id),
            file: filePath(name, in: collection)
        )
        if let id, contents.path.id != id {
            throw StatusError(
                .internal,
                "The file \(filePath(name, in: collection)) in the data folder contains another document, \(contents.path)."
            )
        }
        let times = contents.times.map { FileEdit.Times(create: $0.create, update: $0.update) }
        return (file.status.identity, FileEdit.Contents(fields: contents.fields, times: times))
    }

    /// Gives the file of a rejected edit another name, under which it is kept.
    ///
    /// - Parameter keepsName: True to let the file have its present name as well, until another file takes its place.
    /// - Returns: The edit, and whether the file still has its name: it has not where the system permits no second one. `nil` if the
    ///   file is another one now.
    func reject(
        _ path: DocumentPath,
        _ identity: FileIdentity,
        because reason: RejectedEdit.Reason,
        keepingName keepsName: Bool
    ) throws(StatusError) -> (edit: RejectedEdit, hasName: Bool)? {
        guard let folder = try folders.open(path.collection.segments) else { return nil }
        let name = folders.naming.file(of: path.id).text
        return try reporting("rename", filePath(of: path)) { () throws(FileSystemError) in
            guard try folder.status(of: name)?.identity == identity else { return nil }
            var newName = ""
            var hasName = false
            try RejectedEdit.withUnusedName(for: reason, of: name) { unused throws(FileSystemError) in
                newName = unused
                if keepsName {
                    do throws(FileSystemError) {
                        try folder.link(folder.openFile(name, for: .reading), as: unused)
                        hasName = true
                        return
                    } catch {
                        // The file system has no hard links, or the file is another user's (fs.protected_hardlinks).
                        guard !error.alreadyExists else { throw error }
                    }
                }
                try folder.renameWithoutReplacing(name, to: unused)
            }
            return RejectedEdit(newName, in: path.collection).map { ($0, hasName) }
        }
    }

    /// Gives the file of a rejected edit the name of its document alone again.
    ///
    /// - Parameter hasName: True if it still has that name, too.
    func withdraw(_ edit: RejectedEdit, of path: DocumentPath, hasName: Bool) throws(StatusError) {
        guard let folder = try folders.open(edit.collection.segments) else { return }
        let name = folders.naming.file(of: path.id).text
        try reporting("rename", filePath(edit.name, in: edit.collection)) { () throws(FileSystemError) in
            if hasName { try folder.removeFile(edit.name) } else { try folder.renameWithoutReplacing(edit.name, to: name) }
        }
    }

    /// Returns the path of a document's file in the data folder.
    func filePath(of path: DocumentPath) -> String {
        folders.folderPath(path.collection.segments) + "/" + folders.naming.file(of: path.id).text
    }
}

extension DocumentFiles {
    /// Returns the time at which a file was edited after the commit that wrote it, from the file's modification time; `nil` if it
    /// was not, as far as that shows.
    ///
    /// It takes the place of the update time, so that a precondition with the earlier one fails, and so does a transaction that
    /// has read the document before the edit.
    func editTime(of updateTime: Timestamp, _ identity: FileIdentity) -> Timestamp? {
        guard let datedAfter, updateTime > datedAfter, identity.modifiedMicroseconds > updateTime.microseconds,
            // A time in the future would be later than that of the next commit.
            let time = try? Timestamp(microseconds: identity.modifiedMicroseconds), time <= .current()
        else { return nil }
        return time
    }

    /// The maximum size of a document file, far above the size of the largest document in any layout.
    private static let maximumFileBytes = 64 << 20

    private struct Contents {
        let status: FileStatus
        /// The contents; empty if it cannot be a document file.
        var bytes: [UInt8] = []
        /// True if the file is known to have been unchanged during the read, and is old enough not to be in the middle of a
        /// write.
        var isStable = false
    }

    /// Reads a file in a collection's folder, or returns `nil` if it doesn't exist.
    ///
    /// - Parameter verifyingStability: Whether to find out if the file was unchanged.
    private func contents(
        _ name: String,
        id: DocumentPath.ID?,
        in collection: CollectionPath,
        _ folder: borrowing FileDescriptor,
        verifyingStability: Bool = true
    ) throws(StatusError) -> Contents? {
        // Computed only for errors.
        var filePath: String { self.filePath(name, in: collection) }
        var path: String { id.map { collection.document($0).string } ?? collection.string }
        let contents: Contents
        do throws(FileSystemError) {
            contents = try Self.contents(of: folder.openFile(name, for: .reading), verifyingStability: verifyingStability)
        } catch {
            if error.isNotFound { return nil }
            // Symbolic links and sockets cannot be opened as files.
            if let kind = try? folder.status(of: name)?.kind, let message = Self.typeError(of: kind) {
                throw Self.damaged(message, filePath, path: path)
            }
            throw error.status("read", filePath).withLocation(filePath: filePath, path: path)
        }
        if let message = Self.typeError(of: contents.status.kind) { throw Self.damaged(message, filePath, path: path) }
        guard contents.status.size <= Self.maximumFileBytes else {
            throw Self.damaged(
                "The file is \(contents.status.size) bytes long, larger than any document file. Move it out of the data "
                    + "folder.",
                filePath,
                path: path
            )
        }
        return contents
    }

    /// Returns the ID from the file name, or `nil` if the name is shortened and the file has it.
    private func idFromFileName(_ id: DocumentPath.ID?) -> DocumentPath.ID? {
        guard let id, !folders.naming.isShortened(id) else { return nil }
        return id
    }

    /// Returns the path of a file in the folder of a collection.
    func filePath(_ name: String, in collection: CollectionPath) -> String {
        folders.folderPath(collection.segments) + "/" + name
    }

    private static func contents(
        of file: consuming FileDescriptor,
        verifyingStability: Bool
    ) throws(FileSystemError) -> Contents {
        var contents = Contents(status: try file.status())
        guard contents.status.kind == .file, contents.status.size <= maximumFileBytes else { return contents }
        contents.bytes = try file.read(contents.status.size)
        guard verifyingStability else { return contents }
        let identity = try file.status().identity
        contents.isStable = identity == contents.status.identity && identity.isOlder(thanSeconds: minimumStableAgeSeconds)
        return contents
    }

    /// The age from which a file is considered completely written. The kernel updates the modification time before it copies the
    /// bytes, so a file that another program is writing in place may not look modified afterward.
    private static let minimumStableAgeSeconds: Int64 = 1

    /// Returns the message for an entry with a document's name that is not a regular file, or `nil` for a file.
    private static func typeError(of kind: FileStatus.Kind) -> String? {
        FolderEntry.typeError(of: kind, isNamedAsDocument: true)
    }

    /// Returns the error for an invalid file or folder in place of a document or collection.
    static func damaged(_ message: String, _ filePath: String, path: String? = nil) -> StatusError {
        StatusError(.dataLoss, message, path: path, file: StatusError.FileLocation(path: filePath))
    }
}

extension DocumentFiles {
    /// Returns the document at `path` as stored on disk. Evicts the file from the page cache first, in case pages failed to be written.
    func documentOnDisk(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        guard let folder = try folders.open(path.collection.segments) else { return nil }
        let name = folders.naming.file(of: path.id).text
        try reporting("read", filePath(of: path)) { () throws(FileSystemError) in
            let file = try folder.openFile(name, for: .reading)
            try file.synchronize()
            try file.evictPageCache()
        }
        return try read(name, id: path.id, in: path.collection, folder)
    }
}

extension EncodedDocument {
    /// Returns the document with another update time.
    fileprivate func updated(at time: Timestamp) -> EncodedDocument {
        EncodedDocument(path: path, createTime: createTime, updateTime: time, fieldsJSON: fieldsJSON)
    }
}
