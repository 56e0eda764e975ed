internal import Dispatch
package import DocumentModel
package import Logging
internal import StrictJSON
internal import Synchronization

/// The databases beside the default one of a data folder: `databases/PROJECT/DATABASE/`, each laid out as a data folder of its
/// own. Names are escaped as those of documents are.
///
/// One change at a time is made to the folders; databases are opened and closed at the same time. What deleted ones leave is removed
/// beside all that.
package final class DatabaseFolders: Sendable {
    let path: String
    let root: SharedDescriptor
    let naming: FileNaming
    let queue = WorkQueue(label: "hearth.databases", width: 1)
    let removals = WorkQueue(label: "hearth.databases.removals", width: 1, qos: .utility)
    let isRemovingStopped = Atomic(false)

    /// The folder in the data folder.
    static let name = "databases"
    /// How many databases there may be beside the default one.
    static let maximumCount = 1_000

    private init(_ path: String, root: SharedDescriptor, naming: FileNaming) {
        self.path = path
        self.root = root
        self.naming = naming
    }

    /// The databases of a data folder, which has been opened before.
    ///
    /// - Throws: `.failedPrecondition` when it is no data folder; `.unavailable` when it can't be read.
    package static func open(inFolder path: String) async throws(StatusError) -> DatabaseFolders {
        try await WorkQueue(label: "hearth.databases", width: 1).run { () throws(StatusError) in
            let root = SharedDescriptor(try DataFolder.openRoot(path, making: false))
            let description = try DataFolder.requireDescription(in: root.descriptor, path)
            return DatabaseFolders(path, root: root, naming: description.naming)
        }
    }

    /// Where the folder of a database is in the data folder.
    func place(of id: DatabaseID) -> String {
        "\(Self.name)/\(folderName(id.project))/\(folderName(id.database))"
    }

    /// Names are short enough that none is cut.
    func folderName(_ name: UTF8Key) -> String {
        naming.folder(of: name).text
    }

    /// Whether there is a database, damaged ones counted.
    package func contains(_ id: DatabaseID) async throws(StatusError) -> Bool {
        try await queue.run { () throws(StatusError) in try self.holds(id) }
    }

    /// Opens a database as `configuration` says, making it when it does not exist.
    ///
    /// - Parameter identity: Which one, and the history that it begins with when it is new.
    /// - Throws: `.resourceExhausted` when it does not exist and there are as many as there may be; what `FileStore.open` throws.
    package func open(
        _ identity: DatabaseIdentity,
        _ configuration: FileStoreConfiguration,
        logger: Logger
    ) async throws(StatusError) -> FileStore {
        guard let id = identity.id else { throw StatusError(.internal, "The default database is not opened by its name.") }
        try await queue.run { () throws(StatusError) in if try !self.holds(id) { try self.make(id) } }
        var configuration = configuration
        configuration.folder = path + "/" + place(of: id)
        configuration.identity = identity
        return try await FileStore.open(configuration, logger: logger)
    }
}

extension DatabaseFolders {
    /// Whether a database has a folder with something in it: an empty one is what an interrupted first start leaves.
    func holds(_ id: DatabaseID) throws(StatusError) -> Bool {
        try reporting("look for", Self.name) { () throws(SystemError) in
            guard let all = try root.descriptor.openFolderIfPresent(Self.name),
                let project = try all.openFolderIfPresent(folderName(id.project)),
                let folder = try project.openFolderIfPresent(folderName(id.database))
            else { return false }
            return try folder.isInUse()
        }
    }

    private func make(_ id: DatabaseID) throws(StatusError) {
        guard try list().count < Self.maximumCount else {
            throw StatusError(
                .resourceExhausted,
                "There are \(Self.maximumCount) databases, and no more are allowed. Delete those that are not used."
            )
        }
        try reporting("make", Self.name) { () throws(SystemError) in
            let all = try root.descriptor.openMadeFolder(Self.name)
            let project = try all.openMadeFolder(folderName(id.project))
            _ = try project.openMadeFolder(folderName(id.database))
        }
    }
}

extension FileDescriptor {
    /// Opens a folder in this folder, which is made where there is none. Its name is on disk when this returns, also where a start
    /// that was interrupted has made it.
    fileprivate func openMadeFolder(_ name: String) throws(SystemError) -> FileDescriptor {
        try makeFolder(name)
        try synchronize()
        return try openFolder(name)
    }

    /// Whether the folder of a database has more in it than what a start leaves that was interrupted at once.
    func isInUse() throws(SystemError) -> Bool {
        var listing = try openForListing()
        while let entry = try listing.next() {
            guard entry.name == Array(DataFolder.lockName.utf8) || TemporaryName.matches(entry.name) else { return true }
        }
        return false
    }
}
