internal import DocumentModel
internal import Glibc
internal import Synchronization

/// A data folder that belongs to this process: the lock on it, what it says of itself, and its folders.
final class DataFolder: Sendable {
    /// The folder of the document files.
    let documents: FileDescriptor

    private let root: FileDescriptor
    private let lock: FileDescriptor
    /// The folders that were opened, by name, each with its number in the file system.
    private let inodes: [(name: String, inode: UInt64)]
    private let current: Mutex<DatabaseDescription>

    /// What the folder says of itself.
    var description: DatabaseDescription { current.withLock { $0 } }

    static let descriptionName = "hearth.json"
    static let documentsName = "documents"
    static let journalName = "journal"
    private static let lockName = "hearth.lock"

    private init(
        root: consuming FileDescriptor,
        lock: consuming FileDescriptor,
        documents: consuming FileDescriptor,
        inodes: [(name: String, inode: UInt64)],
        description: DatabaseDescription
    ) {
        self.root = root
        self.lock = lock
        self.documents = documents
        self.inodes = inodes
        current = Mutex(description)
    }

    /// Lets another server open the folder.
    func unlock() {
        lock.unlock()
    }

    /// Makes sure that the folders in use are still those that the data folder has.
    ///
    /// An open folder that was removed looks like an empty one, and what is written into one that was moved away is lost to
    /// the next start. So this is asked before anything is written, and before anything is said not to exist.
    ///
    /// - Throws: `.unavailable` when one is gone, or something else stands in its place.
    func checkPresence() throws(StatusError) {
        for (name, inode) in inodes {
            let found = try reporting("look at", name) { () throws(SystemError) in try root.status(of: name) }
            guard found?.identity.inode != inode else { continue }
            throw StatusError(
                .unavailable,
                "The folder \(name)/ was removed from the data folder, or replaced, while Hearth was running. Stop Hearth, put the "
                    + "folder back, from where it was moved to or from a backup, and start Hearth again."
            )
        }
    }

    /// Opens the folder of the journal's segments.
    func openJournal() throws(StatusError) -> FileDescriptor {
        try reporting("open", Self.journalName) { () throws(SystemError) in try root.openFolder(Self.journalName) }
    }

    /// Which file is in the data folder itself under a name; nil when there is none, or something else.
    func identity(ofFile name: String) throws(StatusError) -> FileIdentity? {
        let status = try reporting("look at", name) { () throws(SystemError) in try root.status(of: name) }
        return status?.kind == .file ? status?.identity : nil
    }

    /// Makes an empty file in the data folder itself.
    func makeFile(_ name: String) throws(StatusError) {
        try reporting("make", name) { () throws(SystemError) in _ = try root.openFile(name, for: .creating) }
    }

    /// What is in a file of the data folder itself, up to so many bytes; nil when there is none.
    func contents(ofFile name: String, maximumBytes: Int = 16 << 20) throws(StatusError) -> [UInt8]? {
        do throws(SystemError) {
            let file = try root.openFile(name, for: .reading)
            return try file.read(min(file.status().size, maximumBytes))
        } catch {
            if error.isNotFound { return nil }
            throw error.status("read", name)
        }
    }

    /// Puts another file in the place of one of the data folder itself; on disk when this returns.
    func replaceFile(_ name: String, with bytes: [UInt8]) throws(StatusError) {
        try Self.replace(name, with: bytes, Self.fileTemporary, in: root)
    }

    /// Removes a file from the data folder itself, if it is there.
    func removeFile(_ name: String) throws(StatusError) {
        try reporting("remove", name) { () throws(SystemError) in _ = try root.removeFile(name) }
    }

    /// Gives what has a name in the data folder itself another name, which nothing has yet: the name with a number behind it.
    func moveAside(_ name: String) throws(StatusError) {
        try reporting("move", name) { () throws(SystemError) in
            var number = 1
            while try root.status(of: "\(name).aside-\(number)") != nil { number += 1 }
            try root.rename(name, to: "\(name).aside-\(number)")
        }
    }

    /// Whether there is anything under a name in the data folder itself.
    func holds(_ name: String) throws(StatusError) -> Bool {
        try reporting("look at", name) { () throws(SystemError) in try root.status(of: name) != nil }
    }

    /// Brings the contents of a file in the data folder itself to disk.
    func synchronizeFile(_ name: String) throws(StatusError) {
        try reporting("sync", name) { () throws(SystemError) in try root.openFile(name, for: .updating).synchronize() }
    }

    /// Changes what the folder says of itself; on disk when this returns.
    func update(_ change: (inout DatabaseDescription) -> Void) throws(StatusError) {
        try current.withLock { current throws(StatusError) in
            var changed = current
            change(&changed)
            guard changed != current else { return }
            try Self.write(changed, in: root)
            current = changed
        }
    }
}

// MARK: - Opening

extension DataFolder {
    /// Opens the data folder at `path`, making it when it doesn't exist, and locks it.
    ///
    /// - Throws: `.failedPrecondition` when it is not Hearth's, is in use, or was made by a newer Hearth.
    static func open(_ path: String) throws(StatusError) -> DataFolder {
        let root = try openRoot(path)
        // Looked at before anything is written, because the folder may be someone else's.
        if try readDescription(in: root) == nil {
            try checkIsNew(root, path)
            try synchronizeName(ofRoot: path)
        }
        let lock = try takeLock(in: root)
        removeTemporaries(in: root)
        let written = try readDescription(in: root)
        let description = if let written { written } else { try makeDescription(in: root) }
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
        guard let description = try readDescription(in: root) else {
            throw StatusError(
                .failedPrecondition,
                "The folder \(Excerpt(path, maximumBytes: 1_000)) is not a Hearth data folder: it has no \(descriptionName)."
            )
        }
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
        for name in [descriptionTemporary, fileTemporary] + FileSystemProbe.names { _ = try? root.removeFile(name) }
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
        try reporting("write", lockName) { () throws(SystemError) in
            try lock.truncate(to: 0)
            try lock.write(Array("\(getpid())\n".utf8))
        }
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

    private static func readDescription(in root: borrowing FileDescriptor) throws(StatusError) -> DatabaseDescription? {
        let bytes: [UInt8]
        do throws(SystemError) {
            let file = try root.openFile(descriptionName, for: .reading)
            bytes = try file.read(min(file.status().size, 1 << 20))
        } catch {
            if error.isNotFound { return nil }
            throw error.status("read", descriptionName)
        }
        return try DatabaseDescription(bytes)
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

    private static func makeDescription(in root: borrowing FileDescriptor) throws(StatusError) -> DatabaseDescription {
        let isStrict = try FileSystemProbe.confusesNames(in: root)
        let description = DatabaseDescription(
            epoch: .random(),
            naming: FileNaming(isStrict: isStrict),
            sequence: .zero,
            commitTime: nil,
            isClean: true,
            openIndex: nil,
            indexEdition: nil
        )
        try write(description, in: root)
        return description
    }

    private static func checkNaming(_ description: DatabaseDescription, in root: borrowing FileDescriptor) throws(StatusError) {
        guard !description.naming.isStrict, try FileSystemProbe.confusesNames(in: root) else { return }
        throw StatusError(
            .failedPrecondition,
            "The data folder was made on a file system that tells all names apart, and this one folds case or normalises Unicode, so "
                + "documents would be lost. Export the documents there and import them into a new data folder here."
        )
    }

    private static let descriptionTemporary = TemporaryName.fixed("description")
    private static let fileTemporary = TemporaryName.fixed("file")

    private static func write(_ description: DatabaseDescription, in root: borrowing FileDescriptor) throws(StatusError) {
        try replace(descriptionName, with: description.encoded(), descriptionTemporary, in: root)
    }

    private static func replace(
        _ name: String,
        with bytes: [UInt8],
        _ temporaryName: String,
        in root: borrowing FileDescriptor
    ) throws(StatusError) {
        try reporting("write", name) { () throws(SystemError) in
            try root.replaceFile(name, with: bytes, through: temporaryName)
        }
    }
}
