internal import DocumentModel
internal import DocumentStore
internal import Glibc
internal import StorageIO

/// A writer of document files: each is staged in a temporary file and then moved into place, without syncing.
///
/// Used by the committer and by recovery. Up to 128 folders stay open until ``endBatch()``; others are reopened as needed.
struct DocumentFileWriter: ~Copyable {
    /// A document in a complete temporary file, ready to be moved into place.
    struct StagedDocument {
        let document: EncodedDocument
        fileprivate let file: AtomicFileWriter.StagedFile
        fileprivate let replaced: ReplacedFile
    }

    /// The file that a write replaces or removes, as its commit knows it.
    fileprivate struct ReplacedFile {
        /// The identity; `nil` if there is none, or if edits of files do not become commits.
        let identity: FileIdentity?
        /// The edit that the commit is of, and which this file is; `nil` for another commit.
        var edit: EditedFile?
    }

    /// An edited file whose document is about to be written.
    fileprivate struct EditedFile {
        /// The identity; `nil` for a removed file.
        let identity: FileIdentity?
        /// The contents; `nil` if they are those of no commit.
        let contents: FileEdit.Contents?
    }

    let files: DocumentFiles
    let cache: DocumentCache
    /// The rejected edits, to which files are added that were edited while they were being replaced; `nil` if edits of files do not
    /// become commits.
    private let edits: EditProblems?
    /// The evidence by which a recovery keeps files that were changed after the last commits of their documents, although they state
    /// earlier times; `nil` if it keeps none.
    let lateEdits: LateEditEvidence?
    /// The edited files whose documents are about to be written.
    private var editedFiles: [DocumentPath: EditedFile] = [:]
    private var openFolders: [CollectionPath: SharedFileDescriptor] = [:]
    /// The open folders whose stored IDs, including those of their parents, are known to exist.
    private var createdFolders: Set<CollectionPath> = []
    private var atomicWriter: AtomicFileWriter

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - edits: The rejected edits; `nil` if edits of files do not become commits.
    ///   - lateEdits: The evidence by which a recovery keeps files that were changed after the last commits of their documents; `nil` if
    ///     it keeps none.
    ///   - hasLeftoverTemporaryFile: True if a temporary file is known to have been left behind.
    init(
        _ files: DocumentFiles,
        cache: DocumentCache,
        edits: EditProblems? = nil,
        lateEdits: LateEditEvidence? = nil,
        hasLeftoverTemporaryFile: Bool = false
    ) {
        self.files = files
        self.cache = cache
        self.edits = edits
        self.lateEdits = lateEdits
        atomicWriter = AtomicFileWriter(hasLeftoverTemporaryFile: hasLeftoverTemporaryFile)
    }

    /// Reads the current document at `path`, or returns `nil` if there is none.
    ///
    /// - Throws: An error with ``StatusError/versionBeforeEdit`` if the file was edited, where edits become commits.
    mutating func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        let known = edits == nil ? nil : cache.entry(at: path)
        let folder = try existingFolder(of: path.collection)
        let document = try folder.flatMap { folder throws(StatusError) in try files.document(at: path, in: folder.descriptor) }
        if let committed = known?.committed, committed != document { throw StatusError.uncommittedEdit(of: committed) }
        return document
    }

    /// Returns the identity of a document's file; `nil` if there is none.
    mutating func identity(of path: DocumentPath) throws(StatusError) -> FileIdentity? {
        try status(of: path)?.identity
    }

    /// Returns the status of a document's file; `nil` if there is none.
    mutating func status(of path: DocumentPath) throws(StatusError) -> FileStatus? {
        guard let folder = try existingFolder(of: path.collection) else { return nil }
        return try reporting("get the status of", files.filePath(of: path)) { () throws(FileSystemError) in
            try folder.descriptor.status(of: files.folders.naming.file(of: path.id).text)
        }
    }

    /// Records that the next write of a document replaces an edit.
    ///
    /// - Parameters:
    ///   - identity: The identity of its file; `nil` for a removed one.
    ///   - contents: The contents of the file if they become a commit.
    mutating func replaceEdit(of path: DocumentPath, _ identity: FileIdentity?, _ contents: FileEdit.Contents? = nil) {
        editedFiles[path] = EditedFile(identity: identity, contents: contents)
    }

    /// Writes a document to a temporary file, creating folders as needed.
    ///
    /// - Parameters:
    ///   - isNew: True if the document is known to have no file.
    ///   - synchronizes: True to sync the temporary file.
    /// - Throws: The error of the write; `.failedPrecondition` if the document's file is immutable.
    mutating func stage(
        _ document: EncodedDocument,
        isNew: Bool = false,
        synchronizing synchronizes: Bool = false
    ) throws(StatusError) -> StagedDocument {
        let folder = try openOrCreateFolder(of: document.path)
        let name = files.folders.naming.file(of: document.path.id)
        let bytes = DocumentFile.encode(document, storesID: name.isShortened)
        let exists: Bool
        do throws(FileSystemError) {
            exists = isNew ? false : try Self.checkIsMutable(name.text, in: folder.descriptor)
        } catch {
            throw writeError(error, "replace", document.path)
        }
        do throws(FileSystemError) {
            let file = try atomicWriter.write(
                bytes,
                modifiedAt: document.updateTime.microseconds,
                in: folder.descriptor,
                isReplacing: exists,
                synchronizing: synchronizes
            )
            let replaced = replacedFile(of: document.path, exists ? name.text : nil, in: folder.descriptor)
            return StagedDocument(document: document, file: file, replaced: replaced)
        } catch {
            throw writeError(error, "write", document.path)
        }
    }

    /// Returns the folder of a document's file, creating it if needed.
    mutating func openOrCreateFolder(of path: DocumentPath) throws(StatusError) -> SharedFileDescriptor {
        do throws(StatusError) {
            return try folder(of: path.collection)
        } catch {
            guard let cause = error.cause as? FileSystemError, cause.preventsSingleFileAccess else { throw error }
            throw writeError(error, of: path)
        }
    }

    /// Moves a staged document into place.
    mutating func moveIntoPlace(_ staged: StagedDocument) throws(StatusError) {
        let path = staged.document.path
        let folder: SharedFileDescriptor
        do throws(StatusError) {
            guard let found = try existingFolder(of: path.collection) else {
                throw FileSystemError("openat", code: ENOENT).status("replace", files.filePath(of: path))
            }
            folder = found
        } catch {
            atomicWriter.abandon(staged.file)
            throw error
        }
        do throws(FileSystemError) {
            let name = files.folders.naming.file(of: path.id).text
            let keep = edits.map { edits in keeper(of: path, name, replacing: staged.replaced, by: staged.document, edits) }
            try atomicWriter.moveIntoPlace(staged.file, as: name, in: folder.descriptor, keeping: keep)
        } catch {
            throw error.status("replace", files.filePath(of: path))
        }
        cache.insert(staged.document, identity: staged.file.identity)
    }

    /// Writes a document's file and moves it into place at once.
    ///
    /// - Parameters:
    ///   - isNew: True if the document is known to have no file.
    ///   - synchronizes: True to sync the file before it is moved into place.
    mutating func write(
        _ document: EncodedDocument,
        isNew: Bool = false,
        synchronizing synchronizes: Bool = false
    ) throws(StatusError) {
        try moveIntoPlace(stage(document, isNew: isNew, synchronizing: synchronizes))
    }

    /// Removes staged documents that will not be moved into place.
    mutating func discard(_ staged: [StagedDocument]) {
        for staged in staged {
            if let folder = try? existingFolder(of: staged.document.path.collection) {
                atomicWriter.discard(staged.file, in: folder.descriptor)
            } else {
                atomicWriter.abandon(staged.file)
            }
        }
        for collection in Set(staged.map(\.document.path.collection)) { files.folders.removeEmpty(collection.segments) }
    }

    /// True if edits of files become commits.
    var takesEdits: Bool { edits != nil }

    /// True if a temporary file could not be removed, so that the next startup must sweep.
    var hasLeftoverTemporaryFile: Bool { atomicWriter.hasLeftoverTemporaryFile }

    /// Removes a document's file, if it exists.
    mutating func remove(_ path: DocumentPath) throws(StatusError) {
        guard let folder = try existingFolder(of: path.collection) else { return cache.remove(path) }
        do throws(FileSystemError) {
            let name = files.folders.naming.file(of: path.id).text
            if let edits {
                let removed = replacedFile(of: path, name, in: folder.descriptor)
                let keep = keeper(of: path, name, replacing: removed, by: nil, edits)
                _ = try atomicWriter.remove(name, from: folder.descriptor, keeping: keep)
            } else {
                try folder.descriptor.removeFile(name)
            }
        } catch {
            throw error.status("remove", files.filePath(of: path))
        }
        cache.remove(path)
    }

    /// Removes empty collection folders and their empty parents.
    func removeEmptyFolders(of collections: Set<CollectionPath>) {
        for collection in collections { files.folders.removeEmpty(collection.segments) }
    }

    /// Closes all folders, so that the next batch reopens them, and ends idle watches of folders.
    mutating func endBatch() {
        openFolders.removeAll(keepingCapacity: true)
        createdFolders.removeAll(keepingCapacity: true)
        editedFiles.removeAll(keepingCapacity: true)
        // The changes that the writer makes itself would fill the queue of a watch that nobody uses.
        files.watch?.watcher.removeIdleWatches()
    }
}

extension DocumentFileWriter {
    /// Returns the file that the next write of a document replaces.
    ///
    /// - Parameter name: The name of the file; `nil` if there is none.
    private func replacedFile(
        of path: DocumentPath,
        _ name: String?,
        in folder: borrowing FileDescriptor
    ) -> ReplacedFile {
        guard edits != nil else { return ReplacedFile(identity: nil) }
        if let edit = editedFiles[path] { return ReplacedFile(identity: edit.identity, edit: edit) }
        guard let name else { return ReplacedFile(identity: nil) }
        return ReplacedFile(identity: cache.entry(at: path)?.identity ?? (try? folder.status(of: name))?.identity)
    }

    /// Returns a function that keeps a replaced file if it is not the one that the commit knows, but an edit of the last milliseconds.
    ///
    /// After an edit, it has its name back, and becomes the next commit. It knows nothing of any other commit, and is kept beside the
    /// document.
    private func keeper(
        of path: DocumentPath,
        _ name: String,
        replacing replaced: ReplacedFile,
        by document: EncodedDocument?,
        _ edits: EditProblems
    ) -> AtomicFileWriter.Keeper {
        let files = files
        return { temporary, folder, canPutBack in
            guard let status = try? folder.status(of: temporary), status.kind == .file, status.identity != replaced.identity
            else { return .removed }
            if let edit = replaced.edit, canPutBack {
                // Otherwise the document has the changes of another commit as well, of which the later edit knows nothing.
                if let document, let contents = edit.contents, let statedTime = contents.times?.update,
                    (try? document.decoded().fields) == contents.fields
                {
                    edits.insertFollower(of: path, committedAt: document.updateTime, stating: statedTime)
                }
                return .putBack
            }
            do throws(FileSystemError) {
                try RejectedEdit.withUnusedName(for: .conflict, of: name) { unused throws(FileSystemError) in
                    try folder.renameWithoutReplacing(temporary, to: unused)
                    if let edit = RejectedEdit(unused, in: path.collection) { edits.report(edit, in: files) }
                }
                return .removed
            } catch {
                edits.reportUnnamed(files.filePath(temporary, in: path.collection), of: path, error)
                return .left
            }
        }
    }
}

extension DocumentFileWriter {
    /// Returns the version that stands in for a document with a damaged file.
    ///
    /// - Throws: `.failedPrecondition` when the file is not damaged, or its contents have changed.
    mutating func document(
        at path: DocumentPath,
        replacing damagedFile: DamagedFileSnapshot
    ) throws(StatusError) -> EncodedDocument? {
        guard isDamaged(path), try files.bytes(of: path) == damagedFile.contents else {
            throw StatusError(
                .failedPrecondition,
                "The damaged file of the document has changed since it was read. Read it again before overwriting it.",
                path: path.string
            )
        }
        return damagedFile.lastVersion
    }

    private mutating func isDamaged(_ path: DocumentPath) -> Bool {
        do throws(StatusError) {
            _ = try document(at: path)
            return false
        } catch {
            return error.code == .dataLoss
        }
    }
}

extension DocumentFileWriter {
    /// The maximum number of open folders.
    private static let maximumOpenFolders = 128

    /// Returns the folder of a collection, or `nil` if it doesn't exist.
    mutating func existingFolder(of collection: CollectionPath) throws(StatusError) -> SharedFileDescriptor? {
        if let folder = openFolders[collection] { return folder }
        guard let descriptor = try files.folders.open(collection.segments) else { return nil }
        return cacheFolder(SharedFileDescriptor(descriptor), as: collection)
    }

    private mutating func folder(of collection: CollectionPath) throws(StatusError) -> SharedFileDescriptor {
        if let folder = openFolders[collection], createdFolders.contains(collection) || !storesIDs(along: collection) {
            return folder
        }
        let folder = SharedFileDescriptor(try files.folders.create(collection.segments))
        createdFolders.insert(collection)
        return cacheFolder(folder, as: collection)
    }

    /// Creates the folders that store their IDs, which must not be created by several writers at a time. A failure is not
    /// reported: writing a document there fails again.
    mutating func createFoldersWithStoredID(of collections: Set<CollectionPath>) {
        for collection in collections where storesIDs(along: collection) { _ = try? folder(of: collection) }
    }

    private mutating func cacheFolder(_ folder: SharedFileDescriptor, as collection: CollectionPath) -> SharedFileDescriptor {
        if openFolders.count >= Self.maximumOpenFolders { openFolders.removeAll(keepingCapacity: true) }
        openFolders[collection] = folder
        return folder
    }

    /// Returns whether the collection's folder or a parent folder stores its ID, because its name is shortened.
    private func storesIDs(along collection: CollectionPath) -> Bool {
        collection.segments.contains { files.folders.naming.folder(of: $0).isShortened }
    }
}
