internal import DocumentModel
internal import Glibc
internal import StrictJSON

/// Changes document files: a temporary file beside the document's, renamed over it. Nothing is synced here.
///
/// Only the committer and recovery have one. Some folders stay open until ``endBatch()``, so many at most however large a
/// commit is; the others are opened again where they are needed again.
struct DocumentInstaller {
    /// A document in a temporary file, complete and ready to be renamed into place.
    struct StagedFile {
        let document: EncodedDocument
        fileprivate let temporaryName: String
        fileprivate let identity: FileIdentity
    }

    let files: DocumentFiles
    private let cache: DocumentCache
    private var openFolders: [CollectionPath: SharedDescriptor] = [:]
    /// Of those, the ones whose own IDs and those of the folders around them are known to be stored.
    private var madeFolders: Set<CollectionPath> = []
    private var temporaryCount: UInt64 = 0

    init(_ files: DocumentFiles, cache: DocumentCache) {
        self.files = files
        self.cache = cache
    }

    /// The document at `path` as its file is now, or nil when there is none.
    mutating func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        guard let folder = try existingFolder(of: path.collection) else { return nil }
        return try files.document(at: path, in: folder.descriptor)
    }

    /// Writes a document into a temporary file beside its own, making folders as needed.
    ///
    /// - Throws: Also when its file is marked as one that is never to change.
    mutating func stage(_ document: EncodedDocument) throws(StatusError) -> StagedFile {
        let folder = try folder(of: document.path.collection)
        let storesID = files.folders.naming.file(of: document.path.id).isShortened
        let bytes = DocumentFile.encode(document, storesID: storesID)
        do throws(SystemError) {
            try Self.checkIsChangeable(files.folders.naming.file(of: document.path.id).text, in: folder.descriptor)
        } catch {
            throw refusal(error, "replace", document.path)
        }
        do throws(SystemError) {
            let temporary = try makeTemporary(in: folder.descriptor)
            do throws(SystemError) {
                try temporary.file.write(bytes)
                let identity = try temporary.file.status().identity
                return StagedFile(document: document, temporaryName: temporary.name, identity: identity)
            } catch {
                _ = try? folder.descriptor.removeFile(temporary.name)
                throw error
            }
        } catch {
            throw error.status("write", files.place(of: document.path))
        }
    }

    /// Puts a staged document in the place of its file.
    mutating func install(_ staged: StagedFile) throws(StatusError) {
        let path = staged.document.path
        guard let folder = try existingFolder(of: path.collection) else {
            throw SystemError("openat", code: ENOENT).status("replace", files.place(of: path))
        }
        do throws(SystemError) {
            try folder.descriptor.rename(staged.temporaryName, to: files.folders.naming.file(of: path.id).text)
        } catch {
            _ = try? folder.descriptor.removeFile(staged.temporaryName)
            throw error.status("replace", files.place(of: path))
        }
        cache.insert(staged.document, identity: staged.identity)
    }

    /// Removes staged documents that are not to be installed.
    mutating func discard(_ staged: [StagedFile]) {
        for staged in staged {
            _ = try? existingFolder(of: staged.document.path.collection)?.descriptor.removeFile(staged.temporaryName)
        }
        for collection in Set(staged.map(\.document.path.collection)) { files.folders.removeEmpty(collection.segments) }
    }

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
        if madeFolders.contains(collection), let folder = openFolders[collection] { return folder }
        let folder = SharedDescriptor(try files.folders.make(collection.segments))
        madeFolders.insert(collection)
        return keep(folder, as: collection)
    }

    private mutating func keep(_ folder: SharedDescriptor, as collection: CollectionPath) -> SharedDescriptor {
        if openFolders.count >= Self.maximumOpenFolders { openFolders.removeAll(keepingCapacity: true) }
        openFolders[collection] = folder
        return folder
    }

    private struct Temporary: ~Copyable {
        let file: FileDescriptor
        let name: String
    }

    private mutating func makeTemporary(in folder: borrowing FileDescriptor) throws(SystemError) -> Temporary {
        while true {
            temporaryCount += 1
            let name = TemporaryName.numbered(temporaryCount)
            do throws(SystemError) {
                return Temporary(file: try folder.openFile(name, for: .creating), name: name)
            } catch {
                // One that could not be removed after a crash.
                guard error.isTaken else { throw error }
            }
        }
    }
}
