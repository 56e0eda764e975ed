internal import DocumentModel
internal import Glibc
internal import StrictJSON

/// Changes document files: each is written as a temporary file and then put into place. Nothing is synced here.
///
/// Only the committer and recovery have one. Some folders stay open until ``endBatch()``, so many at most however large a
/// commit is; the others are opened again where they are needed again.
struct DocumentInstaller {
    /// A document in a temporary file, complete and ready to be put into place.
    struct StagedFile {
        let document: EncodedDocument
        fileprivate let file: TemporaryFiles.File
        fileprivate let identity: FileIdentity
    }

    let files: DocumentFiles
    private let cache: DocumentCache
    private var openFolders: [CollectionPath: SharedDescriptor] = [:]
    /// Of those, the ones whose own IDs and those of the folders around them are known to be stored.
    private var madeFolders: Set<CollectionPath> = []
    private var temporaries: TemporaryFiles

    /// - Parameter leavesTemporaryFile: Whether one is known that could not be removed.
    init(_ files: DocumentFiles, cache: DocumentCache, leavesTemporaryFile: Bool = false) {
        self.files = files
        self.cache = cache
        temporaries = TemporaryFiles(isOneLeft: leavesTemporaryFile)
    }

    /// The document at `path` as its file is now, or nil when there is none.
    mutating func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        guard let folder = try existingFolder(of: path.collection) else { return nil }
        return try files.document(at: path, in: folder.descriptor)
    }

    /// Writes a document into a temporary file, making folders as needed.
    ///
    /// - Parameter isNew: Whether it was found a moment ago that the document has no file.
    /// - Throws: Also when its file is marked as one that is never to change.
    mutating func stage(_ document: EncodedDocument, isNew: Bool = false) throws(StatusError) -> StagedFile {
        let folder = try madeFolder(of: document.path)
        let name = files.folders.naming.file(of: document.path.id)
        let bytes = DocumentFile.encode(document, storesID: name.isShortened)
        let exists: Bool
        do throws(SystemError) {
            exists = isNew ? false : try Self.checkIsChangeable(name.text, in: folder.descriptor)
        } catch {
            throw refusal(error, "replace", document.path)
        }
        do throws(SystemError) {
            let (file, identity) = try temporaries.write(bytes, in: folder.descriptor, isReplacing: exists)
            return StagedFile(document: document, file: file, identity: identity)
        } catch {
            throw refusal(error, "write", document.path)
        }
    }

    /// The folder that a document's file is in, which is made where there is none.
    private mutating func madeFolder(of path: DocumentPath) throws(StatusError) -> SharedDescriptor {
        do throws(StatusError) {
            return try folder(of: path.collection)
        } catch {
            guard let cause = error.cause as? SystemError, cause.forbidsOneFile else { throw error }
            throw refusal(error, of: path)
        }
    }

    /// Puts a staged document in the place of its file.
    mutating func install(_ staged: StagedFile) throws(StatusError) {
        let path = staged.document.path
        let folder: SharedDescriptor
        do throws(StatusError) {
            guard let found = try existingFolder(of: path.collection) else {
                throw SystemError("openat", code: ENOENT).status("replace", files.place(of: path))
            }
            folder = found
        } catch {
            temporaries.abandon(staged.file)
            throw error
        }
        do throws(SystemError) {
            try temporaries.install(staged.file, as: files.folders.naming.file(of: path.id).text, in: folder.descriptor)
        } catch {
            throw error.status("replace", files.place(of: path))
        }
        cache.insert(staged.document, identity: staged.identity)
    }

    /// Removes staged documents that are not to be installed.
    mutating func discard(_ staged: [StagedFile]) {
        for staged in staged {
            if let folder = try? existingFolder(of: staged.document.path.collection) {
                temporaries.discard(staged.file, in: folder.descriptor)
            } else {
                temporaries.abandon(staged.file)
            }
        }
        for collection in Set(staged.map(\.document.path.collection)) { files.folders.removeEmpty(collection.segments) }
    }

    /// Whether a temporary file could not be removed, for the next start to look for.
    var leavesTemporaryFile: Bool { temporaries.isOneLeft }

    /// Removes a document's file, if there is one.
    mutating func remove(_ path: DocumentPath) throws(StatusError) {
        guard let folder = try existingFolder(of: path.collection) else { return }
        do throws(SystemError) {
            try folder.descriptor.removeFile(files.folders.naming.file(of: path.id).text)
        } catch {
            throw error.status("remove", files.place(of: path))
        }
        cache.remove(path)
    }

    /// Removes the folders that were left empty, and the folders around them.
    func removeEmptyFolders(of collections: Set<CollectionPath>) {
        for collection in collections { files.folders.removeEmpty(collection.segments) }
    }

    /// Closes all folders, so that the next batch finds them as they are then.
    mutating func endBatch() {
        openFolders.removeAll(keepingCapacity: true)
        madeFolders.removeAll(keepingCapacity: true)
    }
}

extension DocumentInstaller {
    /// How many folders are open at most.
    private static let maximumOpenFolders = 128

    /// The folder of a collection; nil when there is none.
    mutating func existingFolder(of collection: CollectionPath) throws(StatusError) -> SharedDescriptor? {
        if let folder = openFolders[collection] { return folder }
        guard let descriptor = try files.folders.open(collection.segments) else { return nil }
        return keep(SharedDescriptor(descriptor), as: collection)
    }

    private mutating func folder(of collection: CollectionPath) throws(StatusError) -> SharedDescriptor {
        if let folder = openFolders[collection], madeFolders.contains(collection) || !storesIDs(along: collection) {
            return folder
        }
        let folder = SharedDescriptor(try files.folders.make(collection.segments))
        madeFolders.insert(collection)
        return keep(folder, as: collection)
    }

    private mutating func keep(_ folder: SharedDescriptor, as collection: CollectionPath) -> SharedDescriptor {
        if openFolders.count >= Self.maximumOpenFolders { openFolders.removeAll(keepingCapacity: true) }
        openFolders[collection] = folder
        return folder
    }

    /// Whether the collection's folder, or one around it, has its ID in a file, because its name can't hold it.
    private func storesIDs(along collection: CollectionPath) -> Bool {
        collection.segments.contains { files.folders.naming.folder(of: $0).isShortened }
    }
}
