internal import CSQLite
internal import DocumentModel
internal import DocumentStore
internal import GRDB
internal import Glibc
internal import StorageIO
internal import UTF8Text

/// The file `index.sqlite` of a data folder, with SQLite's WAL.
///
/// The file is not synced while it is open, so after a power failure its contents are undefined. It can also be replaced with
/// another one, from a backup or by accident. Therefore each run of the server that writes the file gives it a new edition, in
/// the same transaction as its first write, and the folder's ``IndexRecord`` holds
///
/// - before the first write: the boot ID of the machine, the inode of the file and the new edition (``IndexRecord/openMarker``),
///   and the previous edition (``IndexRecord/edition``);
/// - after a clean shutdown, when the file is synced: its edition.
///
/// A file is not used if the record does not have its edition, if it was open when the machine went down, or if it is a copy of a
/// file that was open.
package struct IndexFile: Sendable {
    /// The file name in the data folder.
    package static let name = "index.sqlite"
    /// The suffixes of SQLite's own files beside it.
    private static let walSuffixes = ["-wal", "-shm", "-journal"]
    /// The names of the file and of SQLite's own beside it.
    package static let allNames = [name] + walSuffixes.map { name + $0 }
    /// The name of the temporary file for the external sort of a bulk build.
    static let sortFileName = name + sortFileSuffix
    private static let sortFileSuffix = "-sorting"

    let folder: any IndexFolder
    /// The path of the database.
    let path: String
    /// The edition that this run gives the file when it writes it.
    let edition = Epoch.random().description
    /// The page cache size of the writing connection.
    private let cacheBytes: Int

    /// - Parameter folderPath: The path of the folder.
    init(in folder: any IndexFolder, folderPath: String, cacheBytes: Int) {
        self.folder = folder
        self.cacheBytes = cacheBytes
        path = folderPath + "/" + Self.name
    }

    /// Checks the file without opening it, and returns the reason why it cannot be used, or `nil`.
    func unusableReason() throws(StatusError) -> String? {
        guard let identity = try folder.identity(ofFile: Self.name) else {
            return try folder.contains(Self.name) ? "it was not a regular file and was moved aside" : "the file does not exist"
        }
        guard identity.size > 0 else { return "the file is empty" }
        guard let marker = folder.indexRecord.openMarker else { return nil }
        guard marker.utf8.starts(with: (Self.marker(identity) + "/").utf8) else {
            return "it was open when the machine went down, or the file was replaced or copied"
        }
        return nil
    }

    /// Checks the header of the opened file, and returns the reason why it cannot be used, or `nil`.
    ///
    /// - Parameter headerWithoutWAL: The header in the main file without the WAL, which can only be older.
    func unusableReason(_ header: IndexFileHeader, headerWithoutWAL: IndexFileHeader?) -> String? {
        guard isKnown(header.edition) else { return "it belongs to another database, or is an older copy" }
        guard let headerWithoutWAL, headerWithoutWAL.sequence <= header.sequence else { return "its WAL file is incomplete" }
        return nil
    }

    /// Returns whether an edition is this run's, or one that the folder's ``IndexRecord`` holds.
    func isKnown(_ edition: String) -> Bool {
        let record = folder.indexRecord
        let known = [self.edition, record.edition, record.openMarker?.split(separator: "/").last.map(String.init)]
        return known.contains { $0?.utf8.elementsEqual(edition.utf8) == true }
    }

    /// The marker that the record must hold before the file is written; `nil` if the file does not exist.
    func openMarker() throws(StatusError) -> String? {
        try folder.identity(ofFile: Self.name).map { Self.marker($0) + "/" + edition }
    }

    /// Records that the file is about to be written.
    ///
    /// - Parameter current: The edition of the file; `nil` if it is empty.
    func willWrite(over current: String?) throws(StatusError) {
        guard let marker = try openMarker() else { return }
        try folder.updateIndexRecord { $0 = IndexRecord(openMarker: marker, edition: current) }
    }

    /// Syncs the closed file and records its edition.
    ///
    /// - Parameter edition: The edition of the file: that of an earlier run when this one did not write it.
    func didClose(as edition: String?) throws(StatusError) {
        guard folder.indexRecord.openMarker != nil || folder.indexRecord.edition != edition else { return }
        try folder.synchronizeFile(Self.name)
        try folder.updateIndexRecord { $0.edition = edition }
    }

    /// Replaces the file with an empty one with owner-only permissions, and records that it is about to be written.
    func recreate() throws(StatusError) {
        let found = try folder.identity(ofFile: Self.name)
        let marker = try openMarker()
        if found.map({ $0.size > 0 || marker != folder.indexRecord.openMarker }) ?? true {
            try remove()
            try folder.createFile(Self.name)
        }
        try willWrite(over: nil)
    }

    /// Removes the file and SQLite's files beside it. Folders of the same names are moved aside.
    func remove() throws(StatusError) {
        // The database first: it must not be left without its WAL file.
        try remove("")
        try removeWALFiles()
    }

    /// Removes WAL files beside a cleanly closed file: they belong to another database, and SQLite would apply them.
    func removeForeignWALFiles() throws(StatusError) {
        if folder.indexRecord.openMarker == nil { try removeWALFiles() }
    }

    /// Creates an empty, unlinked temporary file for an external sort.
    func makeSortFile() throws(StatusError) -> FileDescriptor {
        try remove(Self.sortFileSuffix)
        return try folder.createUnlinkedFile(Self.sortFileName)
    }

    private func removeWALFiles() throws(StatusError) {
        for suffix in Self.walSuffixes { try remove(suffix) }
    }

    private func remove(_ suffix: String) throws(StatusError) {
        let name = Self.name + suffix
        do throws(StatusError) {
            try folder.removeFile(name)
        } catch {
            try folder.moveAside(name)
        }
    }

    /// Returns whether a marker was made since the machine was started.
    static func isOfThisBoot(_ marker: String) -> Bool {
        marker.utf8.starts(with: (bootID + "/").utf8)
    }

    private static func marker(_ identity: FileIdentity) -> String {
        "\(bootID)/\(identity.inode)"
    }

    /// The kernel's ID of the current boot.
    private static let bootID: String = {
        // Without a boot ID, every process counts as a new boot.
        guard let folder = try? FileDescriptor.folder(atPath: "/proc/sys/kernel/random"),
            let bytes = try? folder.openFile("boot_id", for: .reading).read(64)
        else { return "process \(getpid()) at \(Timestamp.current())" }
        return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    }()
}

extension IndexFile {
    /// The busy timeout of a connection.
    static let busyTimeoutMilliseconds: Int32 = 2_000

    /// The configuration of all connections. It is created before the first use of SQLite.
    private static let configuration = {
        csqlite_disable_memory_statistics()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        // A reader briefly takes the write lock when it finds the WAL header being written, and interrupted readers need a moment
        // to end.
        configuration.busyMode = .timeout(Double(busyTimeoutMilliseconds) / 1_000)
        return configuration
    }()

    /// Opens the database for writing.
    ///
    /// - Parameter isNew: Whether it is being bulk-built. If so, it has no rollback journal, and other connections cannot read
    ///   it.
    func openForWriting(isNew: Bool) throws(IndexDatabaseError) -> DatabaseQueue {
        try IndexDatabaseError.catching {
            var configuration = Self.configuration
            // An unfinished index is removed, even in an open transaction.
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
            return try DatabaseQueue(path: exclusivePath, configuration: configuration)
        }
    }

    /// Reads the header of the main file without the WAL; `nil` if the file has another format.
    ///
    /// The file may be shorter than its first page says, as after a kill during a checkpoint, which writes that page first. The
    /// missing pages are then in the WAL; if not, opening the file with the WAL fails.
    func readHeaderWithoutWAL() throws(IndexDatabaseError) -> IndexFileHeader? {
        let database = try Self.openImmutable(path, allowsMissingPages: true)
        defer { try? database.close() }
        return try IndexDatabaseError.catching { try database.inDatabase { try IndexFileHeader($0) } }
    }

    /// Looks at a sample of the pages of a cleanly closed file; returns the damage that it found, or `nil`.
    func sampledDamage() throws(IndexDatabaseError) -> String? {
        // The pages of a file that was not closed may be in its WAL.
        guard folder.indexRecord.openMarker?.utf8.suffix(edition.utf8.count).elementsEqual(edition.utf8) ?? true else {
            return nil
        }
        let database = try Self.openImmutable(path)
        defer { try? database.close() }
        return IndexPageSample.damage(in: folder, database)
    }

    /// Opens the main file at a path for reading, without the WAL and without changing anything beside it.
    ///
    /// - Parameter allowsMissingPages: Whether to open a file that is shorter than its first page says.
    static func openImmutable(
        _ path: String,
        allowsMissingPages: Bool = false
    ) throws(IndexDatabaseError) -> DatabaseQueue {
        try IndexDatabaseError.catching {
            var configuration = Self.configuration
            configuration.readonly = true
            configuration.label = "hearth.check"
            if allowsMissingPages {
                // SQLite otherwise reports corruption before it reads anything. Nothing is written: the connection is read-only.
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
            }
            // Without `immutable`, SQLite would create or read the files beside it.
            return try DatabaseQueue(path: uri(path, "immutable=1"), configuration: configuration)
        }
    }

    /// Opens a read-only connection.
    func openForReading() throws(IndexDatabaseError) -> DatabaseQueue {
        try IndexDatabaseError.catching {
            var configuration = Self.configuration
            configuration.readonly = true
            // A transaction that cannot be ended explicitly ends with the connection.
            configuration.allowsUnsafeTransactions = true
            configuration.label = "hearth.query"
            configuration.prepareDatabase { [cacheBytes] database in
                try database.execute(sql: "PRAGMA cache_size = -\((cacheBytes / 6) >> 10)")
            }
            return try DatabaseQueue(path: exclusivePath, configuration: configuration)
        }
    }

    /// The path for connections of this process alone, which share the index of the WAL in memory
    /// (https://www.sqlite.org/vfs.html, `unix-excl`).
    ///
    /// A mapped file, as other processes would need it, costs system calls for each lock, and ends the process by `SIGBUS` when a
    /// page that it maps gets no block on a full disk.
    private var exclusivePath: String { Self.uri(path, "vfs=unix-excl") }

    /// Returns a path with a parameter, which SQLite reads from a URI (https://www.sqlite.org/uri.html).
    private static func uri(_ path: String, _ parameter: String) -> String {
        "file:\(PercentEncoding.encode(UTF8Key(path)))?\(parameter)"
    }
}
