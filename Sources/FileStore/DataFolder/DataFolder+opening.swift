internal import DocumentModel
internal import DocumentStore
internal import Glibc
internal import Journal
internal import StorageIO
internal import UTF8Text

extension DataFolder {
    /// Opens and locks the data folder at `path`, creating it if it doesn't exist.
    ///
    /// - Parameters:
    ///   - identity: The expected database, or the database of a new folder.
    ///   - reservedBytes: The size of the ``reserve``; 0 keeps an existing one.
    /// - Throws: `.failedPrecondition` if it is not a data folder, belongs to another database, is in use, or was created by a
    ///   newer version of Hearth.
    static func open(
        _ path: String,
        as identity: DatabaseIdentity = DatabaseIdentity(),
        reservedBytes: Int = 0
    ) throws(StatusError) -> DataFolder {
        let root = try openRoot(path)
        // Checked before anything is written, because the folder may not be a data folder.
        if try readManifest(in: root) == nil, try !StandbyFolder.isInstalling(in: root) {
            try checkIsNew(root, path)
            try synchronizeParent(ofRoot: path)
        }
        let lock = try acquireLock(in: root)
        try StandbyFolder.completeInstallation(in: root)
        removeTemporaryFiles(in: root)
        let existing = try readManifest(in: root)
        let manifest = if let existing { existing } else { try createManifest(identity, in: root) }
        try manifest.check(identity)
        let inodes = try [documentsName, Journal.folderName].map { name throws(StatusError) in
            try reporting("create", name) { () throws(FileSystemError) in
                try root.createFolder(name)
                return (name: name, inode: try root.openFolder(name).status().identity.inode)
            }
        }
        if existing != nil { try checkNaming(manifest, in: root) }
        let documents = try reporting("open", documentsName) { () throws(FileSystemError) in try root.openFolder(documentsName) }
        let journal = try reporting("open", Journal.folderName) { () throws(FileSystemError) in
            try root.openFolder(Journal.folderName)
        }
        return DataFolder(
            root: root,
            lock: lock,
            documents: documents,
            reserve: DiskReserve(in: journal, maximumBytes: reservedBytes),
            inodes: inodes,
            manifest: manifest
        )
    }

    /// Opens and locks the data folder at `path` for reading, without modifying it.
    ///
    /// - Throws: `.failedPrecondition` if it is not a data folder, is in use, was created by a newer version of Hearth, or is that of a
    ///   standby with a snapshot to be installed, so that its parts may be those of two states.
    static func inspect(_ path: String) throws(StatusError) -> DataFolder {
        let root = try openExistingRoot(path)
        guard try !StandbyFolder.isInstalling(in: root) else {
            throw StatusError(
                .failedPrecondition,
                "The installation of a snapshot in the data folder \(Excerpt(path, maximumBytes: 1_000)) is not complete. Start the standby, "
                    + "which completes it, and stop it again."
            )
        }
        let manifest = try requireManifest(in: root, path)
        // The server creates the lock file. Without one, no server has opened the folder, and locking the folder itself is enough.
        let lock = try reporting("open", lockName) { () throws(FileSystemError) in
            try root.openFile(root.status(of: lockName) == nil ? "." : lockName, for: .reading)
        }
        try acquire(lock)
        let documents = try reporting("open", documentsName) { () throws(FileSystemError) in try root.openFolder(documentsName) }
        let inode = try reporting("get the status of", documentsName) { () throws(FileSystemError) in
            try documents.status().identity.inode
        }
        return DataFolder(
            root: root,
            lock: lock,
            documents: documents,
            inodes: [(documentsName, inode)],
            manifest: manifest
        )
    }

    /// Opens a data folder without locking it, for access to its top-level files.
    ///
    /// - Parameter creating: True to create the folder if it doesn't exist.
    /// - Throws: `.failedPrecondition` if the folder is neither a data folder nor empty, or belongs to another user.
    static func openRoot(_ path: String, creating: Bool) throws(StatusError) -> FileDescriptor {
        let root = try creating ? createRoot(path) : openExistingRoot(path)
        try checkOwner(of: root, path)
        if try readManifest(in: root) == nil, try !StandbyFolder.isInstalling(in: root) {
            try checkIsNew(root, path)
            if creating { try synchronizeParent(ofRoot: path) }
        }
        return root
    }

    /// Reads the manifest of an existing data folder.
    ///
    /// - Throws: `.failedPrecondition` if the folder is not a data folder.
    static func requireManifest(
        in root: borrowing FileDescriptor,
        _ path: String
    ) throws(StatusError) -> DataFolderManifest {
        guard let manifest = try readManifest(in: root) else {
            throw StatusError(
                .failedPrecondition,
                "The folder \(Excerpt(path, maximumBytes: 1_000)) is not a Hearth data folder: it has no \(manifestName)."
            )
        }
        return manifest
    }

    private static func openRoot(_ path: String) throws(StatusError) -> FileDescriptor {
        let root = try createRoot(path)
        try checkOwner(of: root, path)
        return root
    }

    private static func checkOwner(of root: borrowing FileDescriptor, _ path: String) throws(StatusError) {
        let owner = try reporting("get the status of", ".") { () throws(FileSystemError) in try root.status().owner }
        guard owner == geteuid() else {
            throw StatusError(
                .failedPrecondition,
                "The data folder \(Excerpt(path)) belongs to the user with the ID \(owner), but Hearth runs as \(geteuid()). "
                    + "Run it as that user, or change the owner of the folder and its contents."
            )
        }
    }

    static func openExistingRoot(_ path: String) throws(StatusError) -> FileDescriptor {
        do throws(FileSystemError) {
            return try FileDescriptor.folder(atPath: path)
        } catch {
            guard error.isNotFound else { throw rootFailure(error, path) }
            throw StatusError(.notFound, "There is no folder \(Excerpt(path, maximumBytes: 1_000)).", cause: error)
        }
    }

    private static func createRoot(_ path: String) throws(StatusError) -> FileDescriptor {
        do throws(FileSystemError) {
            _ = try FileDescriptor.createFolder(atPath: path)
            return try FileDescriptor.folder(atPath: path)
        } catch {
            throw rootFailure(error, path)
        }
    }

    /// Syncs the parent folder, so that a new data folder survives a power failure.
    private static func synchronizeParent(ofRoot path: String) throws(StatusError) {
        do throws(FileSystemError) {
            try FileDescriptor.folder(atPath: path + "/..").synchronize()
        } catch {
            // A user without read permission for the parent did not create the folder.
            guard error.code != EACCES else { return }
            throw rootFailure(error, path)
        }
    }

    /// Removes temporary top-level files that a crash left behind. Failures are harmless.
    private static func removeTemporaryFiles(in root: borrowing FileDescriptor) {
        for name in [manifestTemporaryName] + temporaryFileNames + FileSystemProbe.names { _ = try? root.removeFile(name) }
    }

    private static func rootFailure(_ error: FileSystemError, _ path: String) -> StatusError {
        let what = "Could not open the data folder \(Excerpt(path, maximumBytes: 1_000))"
        return switch error.code {
        case ENOTDIR: StatusError(.failedPrecondition, "\(what): it is a file. Specify the path of a folder.", cause: error)
        case ENOENT:
            StatusError(.notFound, "\(what): the parent folder doesn't exist. Create it first.", cause: error)
        default: StatusError(error.status("open", ".").code, "\(what): \(error).", cause: error)
        }
    }

    private static func acquireLock(in root: borrowing FileDescriptor) throws(StatusError) -> FileDescriptor {
        let lock = try reporting("write", lockName) { () throws(FileSystemError) in
            try root.openFile(lockName, for: .updatingOrCreating)
        }
        try acquire(lock)
        // The process ID is only informational; a full disk may not have space for it.
        if (try? lock.truncate(to: 0)) != nil { _ = try? lock.write(Array("\(getpid())\n".utf8)) }
        return lock
    }

    private static func acquire(_ lock: borrowing FileDescriptor) throws(StatusError) {
        let isOurs = try reporting("lock", lockName) { () throws(FileSystemError) in try lock.lock() }
        guard isOurs else {
            let holder =
                (try? lock.read(20)).map { String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) } ?? ""
            let process = Int32(holder).map { "process \($0)" } ?? "another process"
            throw StatusError(
                .failedPrecondition,
                "The data folder is in use by another Hearth server, \(process). Stop it, or use another folder."
            )
        }
    }

    /// Checks that a folder without a manifest is empty, except for files of an interrupted first start, of the file system, or
    /// created before the first start.
    private static func checkIsNew(_ root: borrowing FileDescriptor, _ path: String) throws(StatusError) {
        let harmless = ([lockName, StandbyFolder.name, "lost+found"] + LockedAtomicFile.Name.fileNames).map { Array($0.utf8) }
        let found: String? = try reporting("list", ".") { () throws(FileSystemError) in
            var listing = try root.openForListing()
            var foreign: String?
            while let entry = try listing.next() {
                // Another server is creating it.
                if entry.name == Array(manifestName.utf8) { return nil }
                if !harmless.contains(entry.name) && !TemporaryName.matches(entry.name) { foreign = entry.text }
            }
            return foreign
        }
        guard let found else { return }
        throw StatusError(
            .failedPrecondition,
            "The folder \(Excerpt(path, maximumBytes: 1_000)) is not empty and not a Hearth data folder: it contains \(Excerpt(found)), "
                + "but no \(manifestName). Specify an empty or new folder."
        )
    }
}
