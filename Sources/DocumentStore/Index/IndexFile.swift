internal import CSQLite
internal import DocumentModel
internal import GRDB
internal import Glibc
internal import StrictJSON

/// The file `index.sqlite` of a data folder, and those that SQLite keeps beside it.
///
/// It is never synced while it is written, so after a power cut it may hold anything. And it can be put in place of another one,
/// from a backup or by accident. So every start of Hearth that writes it gives it an edition, a new one, in the same transaction
/// as what it writes; and `hearth.json` says
///
/// - before it is first written: which start of the machine it is written in, which file it is, and its new edition, beside the
///   one that it had;
/// - after a clean stop, when it is on disk: its edition.
///
/// A file that is of no edition that `hearth.json` names, that was written in another start of the machine, or that is a copy of
/// one that was being written, is not used.
struct IndexFile: Sendable {
    /// The name in the data folder.
    static let name = "index.sqlite"
    /// What SQLite keeps beside it.
    private static let logSuffixes = ["-wal", "-shm", "-journal"]
    /// What is sorted for it, while it is made.
    static let sortingName = name + sortingSuffix
    private static let sortingSuffix = "-sorting"

    let data: DataFolder
    /// The path of the database.
    let path: String
    /// The edition that it gets when it is written.
    let edition = Epoch.random().description
    /// How much memory SQLite may use to write it.
    private let cacheBytes: Int

    init(_ data: DataFolder, folder: String, cacheBytes: Int) {
        self.data = data
        self.cacheBytes = cacheBytes
        path = folder + "/" + Self.name
    }

    /// Why the file can't be used, as far as that can be told without opening it; nil when it may be.
    func fault() throws(StatusError) -> String? {
        guard let identity = try data.identity(ofFile: Self.name) else {
            return try data.holds(Self.name) ? "what is in its place is no file, and was moved aside" : "there is none"
        }
        guard identity.size > 0 else { return "it is empty" }
        guard let noted = data.description.openIndex else { return nil }
        guard noted.utf8.starts(with: (Self.mark(identity) + "/").utf8) else {
            return "it was being written before the machine was started, or is a copy or another one"
        }
        return nil
    }

    /// Why the file with that state can't be used; nil when it can be.
    ///
    /// - Parameter fileState: What the file says without the log beside it, which can only be older.
    func fault(of state: IndexState, fileState: IndexState?) -> String? {
        guard isKnown(state.edition) else { return "it is from another time or database" }
        guard let fileState, fileState.sequence <= state.sequence else { return "the log beside it is not whole" }
        return nil
    }

    /// Whether an edition is one that `hearth.json` names, or this start's.
    func isKnown(_ edition: String) -> Bool {
        let description = data.description
        let known = [self.edition, description.indexEdition, description.openIndex?.split(separator: "/").last.map(String.init)]
        return known.contains { $0?.utf8.elementsEqual(edition.utf8) == true }
    }

    /// What `hearth.json` must say before the file is written; nil when there is none.
    func mark() throws(StatusError) -> String? {
        try data.identity(ofFile: Self.name).map { Self.mark($0) + "/" + edition }
    }

    /// Notes, before it is written, that the file is.
    ///
    /// - Parameter current: The edition that it has; nil when nothing is in it.
    func willWrite(over current: String?) throws(StatusError) {
        guard let mark = try mark() else { return }
        try data.update { description in
            description.openIndex = mark
            description.indexEdition = current
        }
    }

    /// Notes that the file is on disk.
    ///
    /// - Parameter edition: The one that it has: an earlier start's, when it was not written since.
    func didClose(as edition: String?) throws(StatusError) {
        guard data.description.openIndex != nil || data.description.indexEdition != edition else { return }
        try data.synchronizeFile(Self.name)
        try data.update { $0.indexEdition = edition }
    }

    /// Puts an empty file that only its owner can read in the place of one that can't be used, and notes that it is written.
    func makeEmpty() throws(StatusError) {
        let found = try data.identity(ofFile: Self.name)
        let mark = try mark()
        if found.map({ $0.size > 0 || mark != data.description.openIndex }) ?? true {
            try remove()
            try data.makeFile(Self.name)
        }
        try willWrite(over: nil)
    }

    /// Removes the file and those beside it; what can't be removed, since it is a folder, is moved aside.
    func remove() throws(StatusError) {
        // The database first: without the log that belongs to it, it must not be found.
        try remove("")
        try removeLogs()
    }

    /// Removes what lies beside a file that is on disk as a whole: it is another one's, and SQLite would take it for its own.
    func removeStrayLogs() throws(StatusError) {
        if data.description.openIndex == nil { try removeLogs() }
    }

    /// Makes an empty file that nobody else finds, and that is gone when it is closed.
    func makeSortingFile() throws(StatusError) -> FileDescriptor {
        try remove(Self.sortingSuffix)
        return try data.makeUnlistedFile(Self.sortingName)
    }

    private func removeLogs() throws(StatusError) {
        for suffix in Self.logSuffixes { try remove(suffix) }
    }

    private func remove(_ suffix: String) throws(StatusError) {
        let name = Self.name + suffix
        do throws(StatusError) {
            try data.removeFile(name)
        } catch {
            try data.moveAside(name)
        }
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
    /// How long a connection waits for others.
    static let busyMilliseconds: Int32 = 2_000

    /// What all connections have in common. Made before SQLite is used for the first time.
    private static let configuration = {
        csqlite_leave_memory_uncounted()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        // One that reads takes the writer's lock for a moment, where it finds the log's head while that is written; and readers that
        // were interrupted need a moment to end.
        configuration.busyMode = .timeout(Double(busyMilliseconds) / 1_000)
        return configuration
    }()

    /// Opens the database for writing.
    ///
    /// - Parameter isNew: Whether it is made from nothing: then nothing is written twice, and nobody else can read it.
    func openForWriting(isNew: Bool) throws(IndexFailure) -> DatabaseQueue {
        try IndexFailure.catching {
            var configuration = Self.configuration
            // An index that was not finished is removed, whatever is open.
            configuration.allowsUnsafeTransactions = isNew
            configuration.label = "hearth.index"
            configuration.prepareDatabase { [cacheBytes] database in
                try database.execute(
                    sql: """
                        PRAGMA page_size = \(IndexSchema.pageBytes);
                        PRAGMA journal_mode = \(isNew ? "OFF" : "WAL");
                        PRAGMA synchronous = OFF;
                        PRAGMA cache_size = -\((isNew ? 2 * cacheBytes : cacheBytes) >> 10);
                        PRAGMA wal_autocheckpoint = \((32 << 20) / IndexSchema.pageBytes);
                        PRAGMA journal_size_limit = \(64 << 20);
                        PRAGMA temp_store = MEMORY;
                        """
                )
            }
            return try DatabaseQueue(path: path, configuration: configuration)
        }
    }

    /// What the file says of itself, without the log beside it; nil when it is none of this format.
    func fileState() throws(IndexFailure) -> IndexState? {
        try IndexFailure.catching {
            var configuration = Self.configuration
            configuration.readonly = true
            // Without this SQLite would make files beside it, or read them.
            let path = PercentEncoding.encode(UTF8Key(path))
            let database = try DatabaseQueue(path: "file:\(path)?immutable=1", configuration: configuration)
            defer { try? database.close() }
            return try database.inDatabase { try IndexState($0) }
        }
    }

    /// Opens a database that another connection writes.
    func openForReading() throws(IndexFailure) -> DatabaseQueue {
        try IndexFailure.catching {
            var configuration = Self.configuration
            configuration.readonly = true
            // A transaction that can't be ended is ended with the connection.
            configuration.allowsUnsafeTransactions = true
            configuration.label = "hearth.query"
            configuration.prepareDatabase { [cacheBytes] database in
                try database.execute(sql: "PRAGMA cache_size = -\((cacheBytes / 6) >> 10)")
            }
            return try DatabaseQueue(path: path, configuration: configuration)
        }
    }
}
