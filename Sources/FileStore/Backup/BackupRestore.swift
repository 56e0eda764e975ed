internal import Dispatch
package import DocumentModel
internal import DocumentStore
package import Logging
internal import StorageIO
internal import Synchronization
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
    private let target: RestoreTarget
    private let skipsDamaged: Bool
    private let logger: Logger
    private let faults = Faults()

    /// Creates a restore.
    ///
    /// - Parameters:
    ///   - target: The moment that is wanted. For one after the backup, commits are taken from the journals of later backups in the
    ///     same folder, and of `previous`.
    ///   - path: The path of the new data folder, in an existing folder.
    ///   - previous: The path of the data folder that the new one replaces; `nil` if it is lost.
    ///   - skippingDamaged: True to leave out files of the backup that are missing or altered.
    package init(
        _ reader: BackupReader,
        asOf target: RestoreTarget = .backup,
        to path: String,
        replacing previous: String? = nil,
        skippingDamaged: Bool = false,
        logger: Logger
    ) {
        skipsDamaged = skippingDamaged
        self.target = target
        self.logger = logger
        self.reader = reader
        self.path = path
        self.previous = previous
    }

    /// Restores all databases. The new data folder exists when this returns, and is complete; if it throws, it does not exist.
    ///
    /// - Throws: `.failedPrecondition` if there is something at its path, or it is in a folder for backups; `.dataLoss` if a file of the
    ///   backup is missing or altered, which is not to be left out, or without which nothing can be restored;
    ///   `.outOfRange` if the moment is before the backup, or not all commits up to it are known; `.resourceExhausted` without enough
    ///   space; the errors of reading and writing files.
    package func run() async throws(StatusError) -> RestoreReport {
        try checkTarget()
        let queue = WorkQueue(label: "hearth.restore", width: 1)
        let folder = try await queue.run { [path] () throws(StatusError) in
            try FolderInProgress(
                at: path,
                advice: "Restore to a new folder, or move this one away first and pass it with --previous."
            )
        }
        do throws(StatusError) {
            try await copyFiles(to: folder.folder)
            let journals = try await queue.run { [reader, previous] () throws(StatusError) in
                try RestoreJournals(after: reader, previous: previous)
            }
            let backup = reader.backup
            let missingCount =
                target == .backup ? 0 : try await queue.run { () throws(StatusError) in try journals.missingCount(in: backup) }
            var databases: [RestoreReport.Database] = []
            for database in reader.backup.databases {
                guard try await isUsable(database, in: folder) else { continue }
                databases.append(try await restore(database, journals, below: folder.path))
            }
            try await queue.run { () throws(StatusError) in try folder.complete() }
            return RestoreReport(databases: databases, missingCount: missingCount, leftOut: faults.all)
        } catch {
            _ = try? await queue.run { () throws(StatusError) in folder.discard() }
            throw error
        }
    }
}

// MARK: - Files

extension BackupRestore {
    /// The faults that the copy has found.
    private final class Faults: Sendable {
        private let faults = Mutex<[StatusError]>([])

        var all: [StatusError] { faults.withLock(\.self).sorted { ($0.file?.path ?? "") < ($1.file?.path ?? "") } }

        func add(_ fault: StatusError) {
            faults.withLock { $0.append(fault) }
        }
    }

    /// Returns whether a database can be restored, and otherwise removes what was copied of it.
    ///
    /// - Throws: The fault of the default database.
    private func isUsable(_ database: Backup.Database, in folder: FolderInProgress) async throws(StatusError) -> Bool {
        var path = ""
        if let id = database.id { path = try await DatabaseFolders.open(inFolder: folder.path).folderPath(of: id) }
        let manifest = path.isEmpty ? DataFolder.manifestName : "\(path)/\(DataFolder.manifestName)"
        let names = path.split(separator: "/").map(String.init)
        let isComplete = try reporting("inspect", manifest) { () throws(FileSystemError) in
            var database: SharedFileDescriptor? = folder.folder
            for name in names { database = try database?.folderIfPresent(name) }
            return try database?.descriptor.status(of: DataFolder.manifestName) != nil
        }
        guard !isComplete else { return true }
        guard database.id != nil else {
            let fault = faults.all.first { $0.file?.path == manifest }
            throw StatusError(
                .dataLoss,
                "\(fault.map { $0.message + " " } ?? "")Without \(manifest), nothing can be restored. Use another backup.",
                file: StatusError.FileLocation(path: manifest)
            )
        }
        faults.add(
            StatusError(
                .dataLoss,
                "\(Self.name(of: database.id)) is left out as a whole: it cannot be opened without its \(DataFolder.manifestName).",
                file: StatusError.FileLocation(path: path)
            )
        )
        try reporting("remove", path) { () throws(FileSystemError) in
            var parent: SharedFileDescriptor? = folder.folder
            for name in names.dropLast() { parent = try parent?.folderIfPresent(name) }
            guard let parent, var listing = try? parent.descriptor.openForListing() else { return }
            while let entry = try listing.next() {
                guard entry.name == Array((names.last ?? "").utf8) else { continue }
                _ = try parent.descriptor.removeTree(entry) { true }
                return
            }
        }
        return false
    }

    /// Copies all files of the backup, each compared with its digest.
    private func copyFiles(to target: SharedFileDescriptor) async throws(StatusError) {
        let (skipsDamaged, faults) = (skipsDamaged, faults)
        let record = { @Sendable (fault: StatusError) in faults.add(fault) }
        try await reader.forEachFile(onListDamage: skipsDamaged ? record : nil) { _ in
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
                let time: Int64
                do throws(StatusError) {
                    time = try BackupReader.read(entry, in: source) { bytes, offset throws(FileSystemError) in
                        try copy.descriptor.write(bytes, at: offset)
                    }
                } catch {
                    guard skipsDamaged, error.code == .dataLoss else { throw error }
                    faults.add(error)
                    _ = try reporting("remove", entry.path) { () throws(FileSystemError) in
                        try folder.descriptor.removeFile(name)
                    }
                    return
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
    /// Checks that the backup is not of after the moment that is wanted.
    private func checkTarget() throws(StatusError) {
        for database in reader.backup.databases {
            guard let limit = target.limit(of: database),
                !limit.includes(database.lastSequence, database.lastCommitTime ?? .minimum)
            else { continue }
            throw StatusError(
                .outOfRange,
                "The backup ends after that moment, with commit \(database.lastSequence) of \(Self.name(of: database.id)) at "
                    + "\(database.lastCommitTime?.rfc3339 ?? ""). Use an earlier backup: later commits are added to it."
            )
        }
        if case .commit(_, let id) = target, !reader.backup.databases.contains(where: { $0.id == id }) {
            throw StatusError(.notFound, "There is no \(Self.name(of: id)) in the backup.")
        }
    }

    private static func name(of id: DatabaseID?) -> String {
        id.map { "database \(Excerpt($0.description))" } ?? "the default database"
    }

    /// Brings a database to the moment that is wanted, and begins its new history.
    private func restore(
        _ database: Backup.Database,
        _ journals: RestoreJournals,
        below root: String
    ) async throws(StatusError) -> RestoreReport.Database {
        var path = root
        if let id = database.id { path = try await DatabaseFolders.open(inFolder: root).path(of: id) }
        let folder = path
        return try await WorkQueue(label: "hearth.restore.history", width: 1).run { () throws(StatusError) in
            let data = try DataFolder.open(folder, as: DatabaseIdentity(database.id))
            defer { data.unlock() }
            guard data.manifest.epoch == database.epoch, data.manifest.sequence == database.lastSequence else {
                throw StatusError(
                    .dataLoss,
                    "The backup of \(Self.name(of: database.id)) ends with commit \(data.manifest.sequence) instead of "
                        + "\(database.lastSequence)."
                )
            }
            var receipts = try StoredReceipts.read(in: data)
            let last = try apply(journals, to: database, in: data, &receipts)
            let known = try journals.lastCommit(of: database)
            return RestoreReport.Database(
                id: database.id,
                documentCount: try NewHistory(after: known.sequence, known.time).begin(in: data, receipts.receipts),
                lastSequence: last.sequence,
                lastCommitTime: last.time,
                isLastKnownCommit: !last.isComplete
            )
        }
    }

    /// Applies the commits that are wanted in addition to those of the backup.
    private func apply(
        _ journals: RestoreJournals,
        to database: Backup.Database,
        in data: DataFolder,
        _ receipts: inout StoredReceipts
    ) throws(StatusError) -> (sequence: SequenceNumber, time: Timestamp?, isComplete: Bool) {
        guard let limit = target.limit(of: database) else { return (database.lastSequence, database.lastCommitTime, true) }
        var documents = CopiedDocuments(in: data, logger: logger)
        let naming = data.manifest.naming
        let last = try journals.forEachCommit(of: database, until: limit, naming: naming) { commit throws(StatusError) in
            for change in commit.changes { try documents.apply(change.path, change.after, of: commit.time) }
            receipts.record(commit)
        }
        documents.finish()
        if let sequence = limit.sequence, last.sequence < sequence {
            throw StatusError(
                .outOfRange,
                "Commit \(sequence) of \(Self.name(of: database.id)) is not known: the last one in the journals of the later backups and "
                    + "of the previous data folder that follows the backup without a gap is \(last.sequence)."
            )
        }
        return last
    }
}
