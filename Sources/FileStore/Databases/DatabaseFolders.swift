internal import Dispatch
package import DocumentModel
package import DocumentStore
package import Logging
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The additional databases of a data folder, each in its own data folder: `databases/PROJECT/DATABASE/`.
///
/// Names are escaped like document IDs. Changes to the folders are serialized; databases are opened and closed concurrently, and
/// the files of removed ones are deleted in the background.
package final class DatabaseFolders: Sendable {
    /// The data folder's path.
    let path: String
    private let root: SharedFileDescriptor
    private let naming: FileNaming
    private let queue = WorkQueue(label: "hearth.databases", width: 1)
    private let purgeQueue = WorkQueue(label: "hearth.databases.purge", width: 1, qos: .utility)
    private let isPurgeStopped = Atomic(false)

    /// The name of the folder in the data folder.
    private static let name = "databases"
    /// The maximum number of additional databases.
    private static let maximumCount = 1_000

    private init(_ path: String, root: SharedFileDescriptor, naming: FileNaming) {
        self.path = path
        self.root = root
        self.naming = naming
    }

    /// Opens the databases of an existing data folder.
    ///
    /// - Throws: `.failedPrecondition` when it is not a data folder; `.unavailable` when it cannot be read.
    package static func open(inFolder path: String) async throws(StatusError) -> DatabaseFolders {
        try await WorkQueue(label: "hearth.databases", width: 1).run { () throws(StatusError) in
            let root = SharedFileDescriptor(try DataFolder.openRoot(path, creating: false))
            let manifest = try DataFolder.requireManifest(in: root.descriptor, path)
            return DatabaseFolders(path, root: root, naming: manifest.naming)
        }
    }

    /// Returns a database's folder, relative to the data folder.
    func folderPath(of id: DatabaseID) -> String {
        Self.folderPath(of: id, naming: naming)
    }

    /// Returns a database's folder, relative to a data folder whose names are mapped as stated.
    static func folderPath(of id: DatabaseID, naming: FileNaming) -> String {
        "\(name)/\(naming.folder(of: id.project).text)/\(naming.folder(of: id.database).text)"
    }

    /// Returns the path of a database's folder.
    func path(of id: DatabaseID) -> String {
        path + "/" + folderPath(of: id)
    }

    /// Returns an escaped name. Project and database names are short enough that none is shortened.
    private func folderName(_ name: UTF8Key) -> String {
        naming.folder(of: name).text
    }

    /// Returns all additional databases in the order of their names, including damaged ones.
    package func all() async throws(StatusError) -> [DatabaseID] {
        try await queue.run { () throws(StatusError) in try self.list() }
    }

    /// Returns whether a database exists, including a damaged one.
    package func contains(_ id: DatabaseID) async throws(StatusError) -> Bool {
        try await queue.run { () throws(StatusError) in try self.exists(id) }
    }

    /// Opens a database, creating it if needed.
    ///
    /// - Parameter identity: The database, with its epoch if it is new.
    /// - Throws: `.resourceExhausted` when it does not exist and the maximum number of databases has been reached; the errors of
    ///   ``FileStore/open(_:logger:)``.
    package func open(
        _ identity: DatabaseIdentity,
        _ configuration: FileStoreConfiguration,
        logger: Logger
    ) async throws(StatusError) -> FileStore {
        guard let id = identity.id else { throw StatusError(.internal, "The default database has no folder in \(Self.name)/.") }
        try await queue.run { () throws(StatusError) in if try !self.exists(id) { try self.create(id) } }
        var configuration = configuration
        configuration.folder = path(of: id)
        configuration.identity = identity
        return try await FileStore.open(configuration, logger: logger)
    }

    /// Returns the record of a data folder that follows another server, or did.
    func standbyRecord() async throws(StatusError) -> StandbyRecord? {
        try await queue.run { [path] () throws(StatusError) in try StandbyRecord(ofFolder: path) }
    }

    /// Removes a closed database atomically and durably. Has no effect if it does not exist.
    ///
    /// ``purgeDeletedDatabases()`` frees its disk space.
    package func remove(_ id: DatabaseID) async throws(StatusError) {
        try await queue.run { () throws(StatusError) in
            guard try self.exists(id) else { return }
            try reporting("remove", Self.name) { () throws(FileSystemError) in
                let all = try self.root.descriptor.openFolder(Self.name)
                let project = try all.openFolder(self.folderName(id.project))
                try project.moveAside(self.folderName(id.database), to: all)
                if try all.removeFolderIfEmpty(self.folderName(id.project)) { try all.synchronize() }
            }
        }
    }

    /// Deletes the files of removed databases, which can take a long time. Does not delay other calls.
    ///
    /// - Throws: The first error, after everything else has been deleted.
    package func purgeDeletedDatabases() async throws(StatusError) {
        try await purgeQueue.run { () throws(StatusError) in
            var firstError: StatusError?
            try reporting("list", Self.name) { () throws(FileSystemError) in
                guard let all = try self.root.descriptor.openFolderIfPresent(Self.name) else { return }
                var listing = try all.openForListing()
                while let entry = try listing.next(), !self.isPurgeStopped.load(ordering: .relaxed) {
                    guard TemporaryName.matches(entry.name) else { continue }
                    do throws(FileSystemError) {
                        _ = try all.removeTree(entry) { !self.isPurgeStopped.load(ordering: .relaxed) }
                    } catch {
                        firstError = firstError ?? error.status("remove", "\(Self.name)/\(entry.text)")
                    }
                }
            }
            if let firstError { throw firstError }
        }
    }

    /// Makes ``purgeDeletedDatabases()`` stop soon; the next startup continues it.
    package func stopPurging() {
        isPurgeStopped.store(true, ordering: .relaxed)
    }
}

extension DatabaseFolders {
    /// Lists the databases; other files and folders among them are ignored.
    private func list() throws(StatusError) -> [DatabaseID] {
        try reporting("list", Self.name) { () throws(FileSystemError) in
            guard let all = try root.descriptor.openFolderIfPresent(Self.name) else { return [] }
            var found: [DatabaseID] = []
            for project in try names(in: all) {
                let folder = try all.openFolder(folderName(project))
                for database in try names(in: folder) {
                    guard let id = try? DatabaseID(project: project, database: database),
                        try folder.openFolder(folderName(database)).hasContents()
                    else { continue }
                    found.append(id)
                }
            }
            return found.sorted()
        }
    }

    /// Lists the unescaped names of the folders in a folder.
    private func names(in folder: borrowing FileDescriptor) throws(FileSystemError) -> [UTF8Key] {
        var names: [UTF8Key] = []
        var listing = try folder.openForListing()
        while let entry = try listing.next() {
            guard case .id(let name) = naming.parse(folder: entry.name), try folder.kind(of: entry) == .folder else { continue }
            names.append(name)
        }
        return names
    }

    /// Returns whether a database has a folder with contents: an interrupted first start may leave an empty one.
    private func exists(_ id: DatabaseID) throws(StatusError) -> Bool {
        try reporting("open", Self.name) { () throws(FileSystemError) in
            guard let all = try root.descriptor.openFolderIfPresent(Self.name),
                let project = try all.openFolderIfPresent(folderName(id.project)),
                let folder = try project.openFolderIfPresent(folderName(id.database))
            else { return false }
            return try folder.hasContents()
        }
    }

    private func create(_ id: DatabaseID) throws(StatusError) {
        guard try list().count < Self.maximumCount else {
            throw StatusError(
                .resourceExhausted,
                "The maximum number of databases, \(Self.maximumCount), has been reached. Delete unused databases."
            )
        }
        try reporting("create", Self.name) { () throws(FileSystemError) in
            let all = try root.descriptor.openOrCreateFolder(Self.name)
            let project = try all.openOrCreateFolder(folderName(id.project))
            _ = try project.openOrCreateFolder(folderName(id.database))
        }
    }
}

extension FileDescriptor {
    /// Opens a subfolder of this folder, creating it if needed. Its name is durable when this returns, even if it was created by
    /// an interrupted start.
    fileprivate func openOrCreateFolder(_ name: String) throws(FileSystemError) -> FileDescriptor {
        try createFolder(name)
        try synchronize()
        return try openFolder(name)
    }

    /// Returns whether a database's folder contains more than what an interrupted first start leaves.
    fileprivate func hasContents() throws(FileSystemError) -> Bool {
        var listing = try openForListing()
        while let entry = try listing.next() {
            guard entry.name == Array(DataFolder.lockName.utf8) || TemporaryName.matches(entry.name) else { return true }
        }
        return false
    }

    /// Moves a subfolder of this folder to another folder under a temporary name; durable when this returns.
    fileprivate func moveAside(_ name: String, to other: borrowing FileDescriptor) throws(FileSystemError) {
        var number: UInt64 = 0
        while try other.status(of: TemporaryName.numbered(number)) != nil { number += 1 }
        try rename(name, to: TemporaryName.numbered(number), in: other)
        try synchronize()
        try other.synchronize()
    }

    /// Removes a subfolder of this folder; returns `false` if it is not empty or does not exist.
    fileprivate func removeFolderIfEmpty(_ name: String) throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            return try removeFolder(name)
        } catch {
            guard error.isNotEmpty else { throw error }
            return false
        }
    }
}
