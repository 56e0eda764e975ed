internal import DocumentModel
internal import Synchronization

/// A data folder that belongs to this process: the lock on it, what it says of itself, and its folders.
final class DataFolder: Sendable {
    /// The folder of the document files.
    let documents: FileDescriptor

    /// The data folder itself.
    let root: FileDescriptor
    private let lock: FileDescriptor
    /// The folders that were opened, by name, each with its number in the file system.
    private let inodes: [(name: String, inode: UInt64)]
    private let current: Mutex<DatabaseDescription>

    /// What the folder says of itself.
    var description: DatabaseDescription { current.withLock { $0 } }

    static let descriptionName = "hearth.json"
    static let documentsName = "documents"
    static let journalName = "journal"
    static let lockName = "hearth.lock"

    init(
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
