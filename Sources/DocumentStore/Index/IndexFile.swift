internal import DocumentModel
internal import GRDB
internal import Glibc

/// The file `index.sqlite` of a data folder, and those that SQLite keeps beside it.
///
/// It is never synced while it is written, so after a power cut it may hold anything. Before it is first written, `hearth.json`
/// says which start of the machine it is written in and which file it is; after a clean stop, when it is on disk, `hearth.json`
/// says so no more. A file that was written in another start of the machine, or is a copy of one that was being written, is not
/// used.
struct IndexFile: Sendable {
    /// The name in the data folder.
    static let name = "index.sqlite"

    private let data: DataFolder
    /// The path of the database.
    let path: String

    init(_ data: DataFolder, folder: String) {
        self.data = data
        path = folder + "/" + Self.name
    }

    /// Whether there is a file that may be used: one that was closed, or written since the machine was started.
    func isTrustworthy() throws(StatusError) -> Bool {
        guard let identity = try data.identity(ofFile: Self.name), identity.size > 0 else { return false }
        guard let noted = data.description.openIndex else { return true }
        return noted == Self.mark(identity)
    }

    /// What `hearth.json` must say before the file is written; nil when there is none.
    func mark() throws(StatusError) -> String? {
        try data.identity(ofFile: Self.name).map { Self.mark($0) }
    }

    /// Notes, before it is written, that the file is.
    func willWrite() throws(StatusError) {
        guard let mark = try mark() else { return }
        try data.update { $0.openIndex = mark }
    }

    /// Puts an empty file that only its owner can read in the place of one that can't be used, and notes that it is written.
    func makeEmpty() throws(StatusError) {
        let found = try data.identity(ofFile: Self.name)
        if found.map({ $0.size > 0 || Self.mark($0) != data.description.openIndex }) ?? true {
            try remove()
            try data.makeFile(Self.name)
        }
        try willWrite()
    }

    /// Removes the file and those beside it.
    func remove() throws(StatusError) {
        // The database first: without the log that belongs to it, it must not be found.
        for suffix in ["", "-wal", "-shm", "-journal"] { try data.removeFile(Self.name + suffix) }
    }

    /// Brings the file to disk, after it was closed.
    func synchronize() throws(StatusError) {
        try data.synchronizeFile(Self.name)
    }

    private static func mark(_ identity: FileIdentity) -> String {
        "\(startOfMachine)/\(identity.inode)"
    }

    /// Names the time since the machine was started.
    private static let startOfMachine: String = {
        // Where the kernel does not tell, every process is taken for one after a new start.
        guard let folder = try? FileDescriptor.folder(atPath: "/proc/sys/kernel/random"),
            let bytes = try? folder.openFile("boot_id", for: .reading).read(64)
        else { return "process \(getpid()) at \(Timestamp.current())" }
        return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    }()
}

extension IndexFile {
    /// Opens the database for writing.
    ///
    /// - Parameter isNew: Whether it is made from nothing: then nothing is written twice, and nobody else can read it.
    func openForWriting(isNew: Bool) throws(IndexFailure) -> DatabaseQueue {
        try IndexFailure.catching {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            // An index that was not finished is removed, whatever is open.
            configuration.allowsUnsafeTransactions = isNew
            configuration.label = "hearth.index"
            configuration.prepareDatabase { database in
                try database.execute(
                    sql: """
                        PRAGMA page_size = \(IndexSchema.pageBytes);
                        PRAGMA journal_mode = \(isNew ? "OFF" : "WAL");
                        PRAGMA synchronous = OFF;
                        PRAGMA cache_size = -\(isNew ? 96 << 10 : 48 << 10);
                        PRAGMA wal_autocheckpoint = \((32 << 20) / IndexSchema.pageBytes);
                        PRAGMA journal_size_limit = \(64 << 20);
                        PRAGMA temp_store = MEMORY;
                        """
                )
            }
            return try DatabaseQueue(path: path, configuration: configuration)
        }
    }

    /// Opens a database that another connection writes.
    func openForReading() throws(IndexFailure) -> DatabaseQueue {
        try IndexFailure.catching {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            configuration.readonly = true
            // A transaction that can't be ended is ended with the connection.
            configuration.allowsUnsafeTransactions = true
            configuration.label = "hearth.query"
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA cache_size = -\(8 << 10)")
            }
            return try DatabaseQueue(path: path, configuration: configuration)
        }
    }
}
