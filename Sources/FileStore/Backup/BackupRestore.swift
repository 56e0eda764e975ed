internal import Dispatch
package import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO
internal import UTF8Text

/// The restore of a backup to a new data folder.
///
/// The databases begin a new history there: a new epoch, after the highest known commit, whose first commit gives every document a new
/// update time. So no watcher goes on from a commit that the backup does not have, and no cache of a client takes a restored document
/// for an older one than it has.
package struct BackupRestore: Sendable {
    private let reader: BackupReader
    /// The path of the new data folder.
    private let path: String
    /// The data folder that the backup is of; `nil` if it is lost.
    private let previous: String?

    /// Creates a restore.
    ///
    /// - Parameters:
    ///   - path: The path of the new data folder, in an existing folder.
    ///   - previous: The path of the data folder that the new one replaces; `nil` if it is lost.
    package init(_ reader: BackupReader, to path: String, replacing previous: String? = nil) {
        self.reader = reader
        var path = path
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        self.path = path
        self.previous = previous
    }

    /// Restores all databases. The new data folder exists when this returns, and is complete; if it throws, it does not exist.
    ///
    /// - Throws: `.failedPrecondition` if there is something at its path; `.dataLoss` if a file of the backup is missing or altered;
    ///   `.resourceExhausted` without enough space; the errors of reading and writing files.
    /// - Returns: The number of documents.
    package func run() async throws(StatusError) -> Int {
        let queue = WorkQueue(label: "hearth.restore", width: 1)
        let parent = try await queue.run { () throws(StatusError) in try openParent() }
        do throws(StatusError) {
            let folder = try await queue.run { () throws(StatusError) in
                _ = try? Self.removeTemporaryFolder(in: parent)
                return try reporting("create", Self.temporaryName) { () throws(FileSystemError) in
                    try parent.createdFolder(Self.temporaryName)
                }
            }
            try await copyFiles(to: folder)
            var count = 0
            for database in reader.backup.databases { count += try await restore(database, below: temporaryPath) }
            try await queue.run { () throws(StatusError) in
                try reporting("sync", Self.temporaryName) { () throws(FileSystemError) in
                    try folder.descriptor.synchronizeFileSystem()
                    try parent.descriptor.rename(Self.temporaryName, to: name)
                    try parent.descriptor.synchronize()
                }
            }
            return count
        } catch {
            _ = try? await queue.run { () throws(StatusError) in try Self.removeTemporaryFolder(in: parent) }
            throw error
        }
    }

    private static let temporaryName = TemporaryName.fixed("restore")

    private var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    private var parentPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private var temporaryPath: String { parentPath + "/" + Self.temporaryName }

    /// Opens the folder that is to contain the data folder, and checks that there is nothing in its place.
    private func openParent() throws(StatusError) -> SharedFileDescriptor {
        let shown = Excerpt(path, maximumBytes: 1_000)
        do {
            let parent = SharedFileDescriptor(try FileDescriptor.folder(atPath: parentPath))
            var isFree = true
            if let existing = try parent.folderIfPresent(name) {
                var listing = try existing.descriptor.openForListing()
                isFree = try listing.next() == nil
            }
            guard isFree else {
                throw StatusError(
                    .failedPrecondition,
                    "The folder \(shown) is not empty. Restore to a new folder, or move this one away first and pass it with --previous."
                )
            }
            return parent
        } catch let error as FileSystemError {
            throw StatusError(
                error.isNotFound ? .notFound : .failedPrecondition,
                "Could not create the data folder \(shown): \(error). Its parent folder must exist.",
                cause: error
            )
        } catch let error as StatusError {
            throw error
        } catch {
            throw StatusError(.internal, "Could not create the data folder.", cause: error)
        }
    }

    private static func removeTemporaryFolder(in parent: SharedFileDescriptor) throws(StatusError) {
        try reporting("remove", temporaryName) { () throws(FileSystemError) in
            var listing = try parent.descriptor.openForListing()
            while let entry = try listing.next() {
                guard entry.name == Array(temporaryName.utf8) else { continue }
                _ = try parent.descriptor.removeTree(entry) { true }
                return
            }
        }
    }
}

// MARK: - Files

extension BackupRestore {
    /// Copies all files of the backup, each compared with its digest.
    private func copyFiles(to target: SharedFileDescriptor) async throws(StatusError) {
        try await reader.forEachFile { _ in
            var opened: (path: [Substring], folder: SharedFileDescriptor)?
            return { entry, _, source throws(StatusError) in
                let folders = entry.components.dropLast()
                if opened.map({ $0.path != Array(folders) }) ?? true {
                    let folder = try reporting("create", entry.path) { () throws(FileSystemError) in
                        var folder = target
                        for name in folders { folder = try folder.createdFolder(String(name)) }
                        return folder
                    }
                    opened = (Array(folders), folder)
                }
                guard let folder = opened?.folder, let name = entry.components.last.map(String.init) else { return }
                let copy = try reporting("create", entry.path) { () throws(FileSystemError) in
                    SharedFileDescriptor(try folder.descriptor.openFile(name, for: .creating))
                }
                let time = try BackupReader.read(entry, in: source) { bytes, offset throws(FileSystemError) in
                    try copy.descriptor.write(bytes, at: offset)
                }
                try reporting("write", entry.path) { () throws(FileSystemError) in
                    try copy.descriptor.setModificationTimeIfPermitted(microseconds: time)
                }
            }
        }
    }
}

// MARK: - Databases

extension BackupRestore {
    /// Begins the new history of a database. Returns the number of its documents.
    private func restore(_ database: Backup.Database, below root: String) async throws(StatusError) -> Int {
        var path = root
        if let id = database.id { path = try await DatabaseFolders.open(inFolder: root).path(of: id) }
        let folder = path
        let last = try await lastCommit(of: database)
        return try await WorkQueue(label: "hearth.restore.history", width: 1).run { () throws(StatusError) in
            let data = try DataFolder.open(folder, as: DatabaseIdentity(database.id))
            defer { data.unlock() }
            guard data.manifest.epoch == database.epoch, data.manifest.sequence == database.lastSequence else {
                throw StatusError(
                    .dataLoss,
                    "The backup of \(database.id.map { Excerpt($0.description).description } ?? "the default database") ends with "
                        + "commit \(data.manifest.sequence) instead of \(database.lastSequence)."
                )
            }
            return try NewHistory(after: last.sequence, last.time).begin(in: data)
        }
    }

    /// Returns the highest known commit of a database: that of the backup, or of the data folder that is replaced.
    private func lastCommit(
        of database: Backup.Database
    ) async throws(StatusError) -> (sequence: SequenceNumber, time: Timestamp?) {
        let inBackup = (sequence: database.lastSequence, time: database.lastCommitTime)
        guard let previous else { return inBackup }
        let found = try await WorkQueue(label: "hearth.restore.previous", width: 1).run { () throws(StatusError) in
            let root = SharedFileDescriptor(try DataFolder.openRoot(previous, creating: false))
            var folder = root
            let manifest = try DataFolder.requireManifest(in: root.descriptor, previous)
            if let id = database.id {
                let path = DatabaseFolders.folderPath(of: id, naming: manifest.naming)
                let opened = try reporting("open", path) { () throws(FileSystemError) in
                    var folder: SharedFileDescriptor? = root
                    for name in path.split(separator: "/") { folder = try folder?.folderIfPresent(String(name)) }
                    return folder
                }
                guard let opened else { return inBackup }
                folder = opened
            }
            return try Self.lastCommit(in: folder, previous)
        }
        return (max(inBackup.sequence, found.sequence), [inBackup.time, found.time].compactMap(\.self).max())
    }

    /// Returns the last commit of a data folder: that of its journal, as far as it can be read, or of its last checkpoint.
    private static func lastCommit(
        in folder: SharedFileDescriptor,
        _ path: String
    ) throws(StatusError) -> (sequence: SequenceNumber, time: Timestamp?) {
        let manifest = try DataFolder.requireManifest(in: folder.descriptor, path)
        let journal = try Journal.lastCommit(in: folder, epoch: manifest.epoch)
        guard let journal, journal.sequence > manifest.sequence else { return (manifest.sequence, manifest.commitTime) }
        return (journal.sequence, [journal.time, manifest.commitTime].compactMap(\.self).max())
    }
}
