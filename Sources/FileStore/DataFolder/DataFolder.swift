internal import DocumentModel
internal import Journal
internal import StorageIO
internal import Synchronization

/// An open data folder, locked by this process, with its manifest and subfolders.
final class DataFolder: Sendable {
    /// The folder `documents`.
    let documents: FileDescriptor

    /// The data folder.
    let root: FileDescriptor
    /// The space that is reserved for the manifest and for deletions; `nil` in a folder that is only inspected.
    let reserve: DiskReserve?
    private let lock: FileDescriptor
    /// The inode numbers of the open subfolders.
    private let inodes: [(name: String, inode: UInt64)]
    private let current: Mutex<DataFolderManifest>
    /// The edits that are not commits yet; `nil` if edits do not become commits.
    private let uncommittedEdits = Mutex<UncommittedEdits?>(nil)

    /// The current manifest.
    var manifest: DataFolderManifest { current.withLock { $0 } }

    static let manifestName = "hearth.json"
    static let documentsName = "documents"
    static let lockName = "hearth.lock"
    static let quarantineName = "waiting.ndjson"

    init(
        root: consuming FileDescriptor,
        lock: consuming FileDescriptor,
        documents: consuming FileDescriptor,
        reserve: DiskReserve? = nil,
        inodes: [(name: String, inode: UInt64)],
        manifest: DataFolderManifest
    ) {
        self.root = root
        self.lock = lock
        self.documents = documents
        self.reserve = reserve
        self.inodes = inodes
        current = Mutex(manifest)
    }

    /// Releases the lock.
    func unlock() {
        lock.unlock()
    }

    /// Checks that the open subfolders are still in the data folder.
    ///
    /// A removed folder looks empty while it is open, and files written to a moved folder are missing after the next startup. So
    /// this is checked before every write, and before a file is reported as missing.
    ///
    /// - Throws: `.unavailable` if a subfolder was removed or replaced.
    func checkPresence() throws(StatusError) {
        for (name, inode) in inodes {
            let found = try reporting("get the status of", name) { () throws(FileSystemError) in try root.status(of: name) }
            guard found?.identity.inode != inode else { continue }
            throw StatusError(
                .unavailable,
                "The folder \(name)/ in the data folder was removed or replaced while Hearth was running. Stop Hearth, move "
                    + "the folder back or restore it from a backup, and start Hearth again."
            )
        }
    }

    /// Opens the folder of the journal's segments.
    func openJournal() throws(StatusError) -> FileDescriptor {
        try reporting("open", Journal.folderName) { () throws(FileSystemError) in try root.openFolder(Journal.folderName) }
    }

    /// Calls `body`, and if the disk is full, calls it again in the reserved space.
    func usingReserve<Result>(_ body: () throws(StatusError) -> Result) throws(StatusError) -> Result {
        guard let reserve else { return try body() }
        return try reserve.retrying(body)
    }

    /// Changes the manifest in memory. The change is stored by the next update that changes anything else.
    func prepareUpdate(_ change: (inout DataFolderManifest) -> Void) {
        current.withLock { change(&$0) }
    }

    /// The inode number of the folder of the documents.
    var documentsInode: UInt64 { inodes.first { $0.name == Self.documentsName }?.inode ?? 0 }

    /// Records from now on, whenever the manifest is written, since when there may be edits that are not commits.
    func follow(_ edits: UncommittedEdits) {
        uncommittedEdits.withLock { $0 = edits }
    }

    /// Updates the manifest, on a full disk in the reserved space. Durable when this returns.
    func update(_ change: (inout DataFolderManifest) -> Void) throws(StatusError) {
        try current.withLock { current throws(StatusError) in
            var changed = current
            change(&changed)
            guard changed != current else { return }
            if let edits = uncommittedEdits.withLock(\.self) { changed.editsSince = edits.since }
            try usingReserve { () throws(StatusError) in try Self.write(changed, in: root) }
            current = changed
        }
    }
}
