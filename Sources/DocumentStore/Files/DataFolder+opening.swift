internal import DocumentModel
internal import Glibc

extension DataFolder {
    /// Opens the data folder at `path`, making it when it doesn't exist, and locks it.
    ///
    /// - Parameter identity: Which database it is, or becomes when it is made.
    /// - Throws: `.failedPrecondition` when it is not Hearth's or another database's, is in use, or was made by a newer Hearth.
    static func open(_ path: String, as identity: DatabaseIdentity = DatabaseIdentity()) throws(StatusError) -> DataFolder {
        let root = try openRoot(path)
        // Looked at before anything is written, because the folder may be someone else's.
        if try readDescription(in: root) == nil {
            try checkIsNew(root, path)
            try synchronizeName(ofRoot: path)
        }
        let lock = try takeLock(in: root)
        removeTemporaries(in: root)
        let written = try readDescription(in: root)
        let description = if let written { written } else { try makeDescription(identity, in: root) }
        try identity.check(description)
        let inodes = try [documentsName, journalName].map { name throws(StatusError) in
            try reporting("make", name) { () throws(SystemError) in
                try root.makeFolder(name)
                return (name: name, inode: try root.openFolder(name).status().identity.inode)
            }
        }
        if written != nil { try checkNaming(description, in: root) }
        let documents = try reporting("open", documentsName) { () throws(SystemError) in try root.openFolder(documentsName) }
        return DataFolder(root: root, lock: lock, documents: documents, inodes: inodes, description: description)
    }

    /// Opens the data folder at `path` to look at it, without changing anything in it. Nobody else may have it open.
    ///
    /// - Throws: `.failedPrecondition` when it is not a data folder, is in use, or was made by a newer Hearth.
    static func inspect(_ path: String) throws(StatusError) -> DataFolder {
        let root = try openExistingRoot(path)
        let description = try requireDescription(in: root, path)
        // A server makes the file for its lock; where there is none, there was none.
        let lock = try reporting("open", lockName) { () throws(SystemError) in
            try root.openFile(root.status(of: lockName) == nil ? "." : lockName, for: .reading)
        }
        try take(lock)
        let documents = try reporting("open", documentsName) { () throws(SystemError) in try root.openFolder(documentsName) }
        let inode = try reporting("look at", documentsName) { () throws(SystemError) in try documents.status().identity.inode }
        return DataFolder(
            root: root,
            lock: lock,
            documents: documents,
            inodes: [(documentsName, inode)],
            description: description
        )
    }

    /// Opens a data folder without locking it, for what stands beside the documents.
    ///
    /// - Parameter making: Whether to make the folder where there is none.
    /// - Throws: `.failedPrecondition` when the folder is not Hearth's and not empty, or another user's.
    static func openRoot(_ path: String, making: Bool) throws(StatusError) -> FileDescriptor {
        let root = try making ? makeRoot(path) : openExistingRoot(path)
        try checkOwner(of: root, path)
        if try readDescription(in: root) == nil {
            try checkIsNew(root, path)
            if making { try synchronizeName(ofRoot: path) }
        }
        return root
    }

    /// The description of a folder that must be a data folder already.
    ///
    /// - Throws: `.failedPrecondition` when it is none.
    static func requireDescription(
        in root: borrowing FileDescriptor,
        _ path: String
    ) throws(StatusError) -> DatabaseDescription {
        guard let description = try readDescription(in: root) else {
            throw StatusError(
                .failedPrecondition,
                "The folder \(Excerpt(path, maximumBytes: 1_000)) is not a Hearth data folder: it has no \(descriptionName)."
            )
        }
        return description
    }

    private static func openRoot(_ path: String) throws(StatusError) -> FileDescriptor {
        let root = try makeRoot(path)
        try checkOwner(of: root, path)
        return root
    }

    private static func checkOwner(of root: borrowing FileDescriptor, _ path: String) throws(StatusError) {
        let owner = try reporting("look at", ".") { () throws(SystemError) in try root.status().owner }
        guard owner == geteuid() else {
            throw StatusError(
                .failedPrecondition,
                "The data folder \(Excerpt(path)) belongs to the user with the number \(owner), and Hearth runs as \(geteuid()). "
                    + "Run it as that user, or change the owner of the folder and all that is in it."
            )
        }
    }

    private static func openExistingRoot(_ path: String) throws(StatusError) -> FileDescriptor {
        do throws(SystemError) {
            return try FileDescriptor.folder(atPath: path)
        } catch {
            guard error.isNotFound else { throw rootFailure(error, path) }
            throw StatusError(.notFound, "There is no folder \(Excerpt(path, maximumBytes: 1_000)).", cause: error)
        }
    }

    private static func makeRoot(_ path: String) throws(StatusError) -> FileDescriptor {
        do throws(SystemError) {
            _ = try FileDescriptor.makeFolder(atPath: path)
            return try FileDescriptor.folder(atPath: path)
        } catch {
            throw rootFailure(error, path)
        }
    }

    /// Lets the name of a new data folder outlast a power cut: without it all that is in the folder would be lost.
    private static func synchronizeName(ofRoot path: String) throws(StatusError) {
        do throws(SystemError) {
            try FileDescriptor.folder(atPath: path + "/..").synchronize()
        } catch {
            // Who may not read the folder around it did not make it there.
            guard error.code != EACCES else { return }
            throw rootFailure(error, path)
        }
    }

    /// Removes what a crash left of the files in the data folder itself; they do no harm where that fails.
    private static func removeTemporaries(in root: borrowing FileDescriptor) {
        for name in [descriptionTemporary] + fileTemporaries + FileSystemProbe.names { _ = try? root.removeFile(name) }
    }

    private static func rootFailure(_ error: SystemError, _ path: String) -> StatusError {
        let what = "Could not open the data folder \(Excerpt(path, maximumBytes: 1_000))"
        return switch error.code {
        case ENOTDIR: StatusError(.failedPrecondition, "\(what): it is a file. Give the path of a folder.", cause: error)
        case ENOENT:
            StatusError(.notFound, "\(what): the folder that it would be in does not exist. Make that first.", cause: error)
        default: StatusError(error.status("open", ".").code, "\(what): \(error).", cause: error)
        }
    }

    private static func takeLock(in root: borrowing FileDescriptor) throws(StatusError) -> FileDescriptor {
        let lock = try reporting("write", lockName) { () throws(SystemError) in
            try root.openFile(lockName, for: .updatingOrCreating)
        }
        try take(lock)
        // Who holds it is only told to others. A full disk may have no room for that.
        if (try? lock.truncate(to: 0)) != nil { _ = try? lock.write(Array("\(getpid())\n".utf8)) }
        return lock
    }

    private static func take(_ lock: borrowing FileDescriptor) throws(StatusError) {
        let isOurs = try reporting("lock", lockName) { () throws(SystemError) in try lock.lock() }
        guard isOurs else {
            let holder =
                (try? lock.read(20)).map { String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) } ?? ""
            let process = Int32(holder).map { "process \($0)" } ?? "another process"
            throw StatusError(
                .failedPrecondition,
                "The data folder is in use by another Hearth server, \(process). Stop it first, or use another folder."
            )
        }
    }

    /// A folder without description must be empty, but for what an interrupted first start or the file system left there, and what
    /// was put there for the first start.
    private static func checkIsNew(_ root: borrowing FileDescriptor, _ path: String) throws(StatusError) {
        let harmless = ([lockName, "lost+found"] + SideFile.Name.files).map { Array($0.utf8) }
        let found: String? = try reporting("list", ".") { () throws(SystemError) in
            var listing = try root.openForListing()
            var foreign: String?
            while let entry = try listing.next() {
                // Another server is just making it.
                if entry.name == Array(descriptionName.utf8) { return nil }
                if !harmless.contains(entry.name) && !TemporaryName.matches(entry.name) { foreign = entry.text }
            }
            return foreign
        }
        guard let found else { return }
        throw StatusError(
            .failedPrecondition,
            "The folder \(Excerpt(path, maximumBytes: 1_000)) is not empty and not a Hearth data folder: there is \(Excerpt(found)) "
                + "in it, but no \(descriptionName). Give an empty or new folder."
        )
    }
}
