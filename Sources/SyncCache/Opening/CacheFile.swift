internal import DocumentModel
internal import GRDB
internal import GRDBSQLite
internal import UTF8Text

/// A file of the cache, while it is opened.
struct CacheFile {
    /// The suffix of an empty file beside a file in which damage was found.
    static let damageMarkerSuffix = "-damage"
    /// The suffixes of SQLite's own files.
    static let companionSuffixes = ["-wal", "-shm", "-journal"]
    /// The suffix of a file that was set aside, before its number.
    private static let setAsideSuffix = ".damaged-"

    let folder: String
    let name: String
    let schema: CacheSchema

    /// Returns `queue.sqlite` in a folder.
    static func queue(in folder: String) -> CacheFile { CacheFile(folder: folder, name: "queue.sqlite", schema: .queue) }

    /// Returns `cache.sqlite` in a folder.
    static func cache(in folder: String) -> CacheFile { CacheFile(folder: folder, name: "cache.sqlite", schema: .cache) }

    var path: String { folder + "/" + name }

    /// Damage that opening the file has found.
    struct Damage: Error {
        let message: String
    }

    /// An error of opening a file.
    enum OpeningError: Error {
        case damage(Damage)
        case status(StatusError)
    }

    /// Opens the file, creates it if there is none, and brings an older format to the current one.
    ///
    /// - Parameter isChecked: True to check the whole file for damage.
    /// - Throws: ``OpeningError/damage(_:)`` if it cannot be read, `.failedPrecondition` for a newer format, which is left untouched.
    func open(isChecked: Bool) throws(OpeningError) -> CacheDatabase {
        let isWritable: Bool
        do throws(StatusError) {
            let header = try Header(of: self)
            if let format = header?.format { try rejectNewerFormat(format) }
            isWritable = header?.isWritable ?? true
        } catch {
            throw .status(error)
        }
        guard isWritable else { throw .damage(Damage(message: "its header is damaged")) }
        guard !isMarkedDamaged else { throw .damage(Damage(message: "damage was found while it was in use")) }
        let hasWAL = PrivateFile.size(path + "-wal") ?? 0 > 0
        do {
            try PrivateFile.create(path)
            let queue = try DatabaseQueue(path: path, configuration: Self.configuration(name))
            try queue.inDatabase { database in
                try Self.requireWAL(database)
                try prepare(database)
                if isChecked { try Self.check(database) }
            }
            return CacheDatabase(queue, path: path, hasUnsyncedCommits: hasWAL)
        } catch let error as StatusError {
            throw .status(error)
        } catch {
            let failure = CacheDatabaseError(error)
            guard failure.isCorruption || failure.isReadFailure else { throw .status(failure.status(of: path, "opened")) }
            throw .damage(Damage(message: failure.message))
        }
    }

    /// True if a process has found damage in the file.
    var isMarkedDamaged: Bool { PrivateFile.exists(path + Self.damageMarkerSuffix) }

    /// Returns the configuration of a connection.
    ///
    /// - Parameter ignoresSchemaErrors: True to read what can be read of a damaged file.
    static func configuration(_ name: String, ignoresSchemaErrors: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.label = "hearth.\(name)"
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .immediateError
        // A transaction spans several calls.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            if ignoresSchemaErrors { try database.execute(sql: "PRAGMA writable_schema = ON") }
            // With the lock before the first access, the index of the WAL is in memory.
            try database.execute(
                sql: """
                    PRAGMA locking_mode = EXCLUSIVE;
                    PRAGMA page_size = \(CacheSchema.pageBytes);
                    PRAGMA journal_mode = WAL;
                    PRAGMA synchronous = NORMAL;
                    PRAGMA fullfsync = ON;
                    PRAGMA checkpoint_fullfsync = ON;
                    PRAGMA journal_size_limit = \(16 << 20);
                    PRAGMA cache_size = -4096;
                    PRAGMA temp_store = MEMORY;
                    """
            )
        }
        return configuration
    }

    /// The header of a database (https://www.sqlite.org/fileformat2.html), read without opening it, which would already change something.
    private struct Header {
        /// The format; `nil` if the file is not a database with the application ID of the schema.
        let format: Int64?
        /// False if SQLite would take the file for one of a later version of SQLite, and not write it.
        let isWritable: Bool

        /// Reads the header; `nil` if there is none.
        init?(of file: CacheFile) throws(StatusError) {
            guard let bytes = try PrivateFile.prefix(of: file.path, count: 100), bytes.count == 100 else { return nil }
            let applicationID = bytes[68..<72].reduce(0) { $0 << 8 | Int64($1) }
            let isOurs = bytes.starts(with: "SQLite format 3\0".utf8) && applicationID == file.schema.applicationID
            format = isOurs ? bytes[60..<64].reduce(0) { $0 << 8 | Int64($1) } : nil
            isWritable = bytes[18] <= 2 && bytes[19] <= 2
        }
    }

    private func rejectNewerFormat(_ format: Int64) throws(StatusError) {
        guard format > schema.format else { return }
        throw StatusError(
            .failedPrecondition,
            "The file \(path) has format \(format), and this version of Hearth knows formats up to \(schema.format). A newer version has "
                + "written it. Use that version, or another folder. The file is unchanged.",
            file: StatusError.FileLocation(path: path)
        )
    }

    /// Opens a database of the file's schema in memory.
    func openInMemory() throws -> CacheDatabase {
        let queue = try DatabaseQueue(configuration: Self.configuration(name))
        try queue.inDatabase { try prepare($0) }
        return CacheDatabase(queue, path: CacheDatabase.memoryPath, hasUnsyncedCommits: false)
    }

    /// Checks that SQLite can use a WAL on the file system.
    private static func requireWAL(_ database: Database) throws {
        let mode = try CacheStatement("PRAGMA journal_mode", database).firstRow { try $0.text(0) }
        guard mode == "wal" else { throw CacheDatabaseError(SQLITE_CANTOPEN, nil) }
    }

    private func prepare(_ database: Database) throws {
        let applicationID = try database.pragma("application_id")
        let format = try database.pragma("user_version")
        // A file that was just created, or whose creation was interrupted.
        let isNew = try applicationID == 0 && format == 0 && database.pragma("schema_version") == 0
        guard isNew || applicationID == schema.applicationID, format >= 0 else {
            throw CacheDatabaseError(corruption: "it is not a file of Hearth's cache")
        }
        try rejectNewerFormat(format)
        guard format < schema.format else { return }
        try database.inTransaction {
            for migration in schema.migrations.dropFirst(Int(format)) { try database.execute(sql: migration) }
            try database.execute(
                sql: "PRAGMA application_id = \(schema.applicationID); PRAGMA user_version = \(schema.format);"
            )
            return .commit
        }
    }

    private static func check(_ database: Database) throws {
        let result = try CacheStatement("PRAGMA integrity_check(1)", database).firstRow { try $0.text(0) }
        guard result == "ok" else { throw CacheDatabaseError(corruption: result ?? "it cannot be checked") }
    }
}

extension Database {
    /// Returns the value of a numeric pragma.
    fileprivate func pragma(_ name: String) throws -> Int64 {
        try CacheStatement("PRAGMA \(name)", self).firstRow { try $0.integer(0) } ?? 0
    }
}

extension CacheDatabase {
    /// Returns a database in memory.
    static func inMemory(_ schema: CacheSchema) -> CacheDatabase {
        do {
            return try CacheFile(folder: "", name: "memory", schema: schema).openInMemory()
        } catch {
            // SQLite creates it in its own memory, which fails only if there is none left.
            preconditionFailure("SQLite cannot open a database in memory: \(error)")
        }
    }
}

// MARK: Setting aside

extension CacheFile {
    /// The names of files of this name that were set aside, oldest first.
    private func setAsideNumbers() throws(StatusError) -> [Int] {
        try PrivateFile.names(in: folder).compactMap { file in
            guard file.utf8.starts(with: (name + Self.setAsideSuffix).utf8) else { return nil }
            return Int(Substring(file.utf8.dropFirst((name + Self.setAsideSuffix).utf8.count)))
        }.sorted()
    }

    /// Renames the file and SQLite's own beside it.
    ///
    /// - Parameter keepsOthers: False to remove those that were set aside before.
    /// - Returns: The new path.
    func setAside(keepsOthers: Bool) throws(StatusError) -> String {
        let numbers = try setAsideNumbers()
        if !keepsOthers {
            for number in numbers {
                let path = path + Self.setAsideSuffix + "\(number)"
                for suffix in [""] + Self.companionSuffixes { try PrivateFile.remove(path + suffix) }
            }
        }
        let newPath = path + Self.setAsideSuffix + "\((numbers.last ?? 0) + 1)"
        for suffix in [""] + Self.companionSuffixes { try PrivateFile.rename(path + suffix, to: newPath + suffix) }
        try PrivateFile.synchronizeFolder(folder)
        return newPath
    }

    /// Removes the mark of damage, after the file was replaced.
    func removeDamageMarker() throws(StatusError) {
        try PrivateFile.remove(path + Self.damageMarkerSuffix)
    }
}
