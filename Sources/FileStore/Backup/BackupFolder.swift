internal import Dispatch
package import DocumentModel
package import DocumentStore
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The folder that an operator has named for backups. Each backup is a folder in it, named by the time at which it was begun.
///
/// A backup is made under a temporary name and renamed when it is complete and durable, so one that fails leaves the others as they
/// are. One is made at a time; a lock file enforces that, also among processes.
package final class BackupFolder: Sendable {
    private let path: String
    /// True for a server, which claims the folder for itself.
    private let isClaimed: Bool
    private let claim = Mutex<Claim?>(nil)
    /// The archive of journals.
    let archive = JournalArchive()
    private let queue = WorkQueue(label: "hearth.backups", width: 2, qos: .utility)
    /// The queue of the record of verifications.
    let verificationQueue = WorkQueue(label: "hearth.backups.verifications", width: 1, qos: .utility)

    /// The lock that a server holds on the folder, as long as it is the same one.
    private struct Claim {
        let folder: FileID
        let lock: SharedFileDescriptor
    }

    /// The folder in words.
    static let description = "the folder for backups"
    private static let lockName = "hearth-backups.lock"
    private static let claimName = "hearth-backups.server.lock"
    private static let temporaryName = TemporaryName.fixed("backup")

    private init(_ path: String, isClaimed: Bool) {
        self.path = path
        self.isClaimed = isClaimed
    }

    /// Opens the folder at a path that the operator chose.
    ///
    /// - Parameters:
    ///   - data: The data folder, which must not contain it; `nil` for any.
    ///   - creating: True to create the folder if it does not exist.
    ///   - claiming: True to keep other servers from using it, as long as the result exists: two would take the backups of each other
    ///     for their own.
    /// - Throws: `.failedPrecondition` if it is in the data folder, or another server uses it; `.notFound` if it does not exist or
    ///   cannot be created there.
    package static func open(
        _ path: String,
        outside data: String? = nil,
        creating: Bool = false,
        claiming: Bool = false
    ) async throws(StatusError) -> BackupFolder {
        try await WorkQueue(label: "hearth.backups.open", width: 1).run { () throws(StatusError) in
            do {
                let isCreated = creating ? try FileDescriptor.createFolder(atPath: path) : false
                let root = SharedFileDescriptor(try FileDescriptor.folder(atPath: path))
                if let data, try isInside(root, data) {
                    if isCreated, let name = path.split(separator: "/").last {
                        _ = try root.descriptor.openFolder("..").removeFolder(String(name))
                    }
                    throw isInDataFolder(path)
                }
                let folder = BackupFolder(path, isClaimed: claiming)
                _ = try folder.root()
                return folder
            } catch let error as FileSystemError {
                throw openFailure(error, path)
            } catch let error as StatusError {
                throw error
            } catch {
                throw StatusError(.internal, "Could not open the folder for backups.", cause: error)
            }
        }
    }
}

extension BackupFolder {
    private static func isInside(_ root: SharedFileDescriptor, _ data: String) throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            return try root.descriptor.isInside(FileDescriptor.folder(atPath: data))
        } catch {
            // A data folder that is yet to be created.
            guard error.isNotFound else { throw error }
            return false
        }
    }

    private static func isInDataFolder(_ path: String) -> StatusError {
        StatusError(
            .failedPrecondition,
            "The folder for backups, \(Excerpt(path, maximumBytes: 1_000)), is in the data folder. Choose one outside, best on another "
                + "disk."
        )
    }

    private static func openFailure(_ error: FileSystemError, _ path: String) -> StatusError {
        let name = Excerpt(path, maximumBytes: 1_000)
        guard !error.isNotFound else {
            return StatusError(.notFound, "There is no folder \(name) for backups, or none to create it in.", cause: error)
        }
        return StatusError(
            error.status("open", ".").code,
            "Could not open the folder for backups, \(name): \(error).",
            cause: error
        )
    }

    /// Opens the folder as it is now: another disk may have been mounted there.
    private func root() throws(StatusError) -> SharedFileDescriptor {
        let root: SharedFileDescriptor
        let isFree: Bool
        do throws(FileSystemError) {
            root = SharedFileDescriptor(try FileDescriptor.folder(atPath: path))
            isFree = isClaimed ? try claim(root) : true
        } catch {
            throw Self.openFailure(error, path)
        }
        guard isFree else {
            throw StatusError(
                .failedPrecondition,
                "Another server uses the folder for backups, \(Excerpt(path, maximumBytes: 1_000)). Choose another one for this server."
            )
        }
        return root
    }

    /// Claims the folder, unless it is claimed already; returns whether it could be.
    private func claim(_ root: SharedFileDescriptor) throws(FileSystemError) -> Bool {
        try claim.withLock { claim throws(FileSystemError) in
            let identity = try root.descriptor.status().fileID
            if claim?.folder == identity { return true }
            let lock = SharedFileDescriptor(try root.descriptor.openFile(Self.claimName, for: .updatingOrCreating))
            guard try lock.descriptor.lock() else { return false }
            claim = Claim(folder: identity, lock: lock)
            return true
        }
    }

    /// Opens a complete backup.
    func reader(of name: String) async throws(StatusError) -> BackupReader {
        try await BackupReader.open("\(path)/\(name)")
    }

    /// Returns the complete backups, oldest first. A folder without a readable manifest is not one.
    package func list() async throws(StatusError) -> [Backup] {
        try await withRoot { root throws(StatusError) in
            try reportingInBackups("list", ".") { () throws(FileSystemError) in try Self.backups(in: root) }
        }
    }

    /// Makes a backup.
    ///
    /// - Parameter body: Copies the databases, and returns their states, that of the default one first.
    /// - Throws: `.failedPrecondition` while another one is being made; the errors of `body`.
    func create(
        _ request: BackupRequest,
        _ body: (BackupWriter) async throws(StatusError) -> [Backup.Database]
    ) async throws(StatusError) -> Backup {
        let (root, lock, writer) = try await withRoot { root throws(StatusError) in
            let lock = try Self.lock(root)
            return (root, lock, try Self.begin(in: root, progress: request.progress))
        }
        defer { lock.descriptor.unlock() }
        do throws(StatusError) {
            let databases = try await withTaskCancellation(of: writer) { () async throws(StatusError) in try await body(writer) }
            return try await queue.run { () throws(StatusError) in
                try Self.finish(writer, databases, request, in: root)
            }
        } catch {
            try? await queue.run { () throws(StatusError) in Self.removeLeftovers(in: root) }
            throw error
        }
    }

    /// Removes the oldest backups, and the archived journals that none needs. If those that are kept are all known to be damaged, the newest one that is not stays, too.
    package func prune(keeping count: Int) async throws(StatusError) -> [String] {
        let verifications = try await verifications()
        return try await withRoot { root throws(StatusError) in
            let lock = try Self.lock(root)
            defer { lock.descriptor.unlock() }
            let all = try reportingInBackups("list", ".") { () throws(FileSystemError) in try Self.backups(in: root) }
            let isDamaged = { (backup: Backup) in verifications.latest(of: backup).map { $0.faultCount > 0 } ?? false }
            var kept = Array(all.suffix(max(1, count)))
            if kept.allSatisfy(isDamaged), let good = all.dropLast(kept.count).last(where: { !isDamaged($0) }) {
                kept.insert(good, at: 0)
            }
            let removed = all.filter { !kept.contains($0) }.map(\.name)
            for name in removed {
                // Renamed first, so that what remains of an interrupted removal is no backup.
                try reportingInBackups("remove", name) { () throws(FileSystemError) in
                    try root.descriptor.rename(name, to: Self.temporaryName)
                    try root.descriptor.synchronize()
                }
                Self.removeLeftovers(in: root)
            }
            try reportingInBackups("remove", JournalArchive.folderName) { () throws(FileSystemError) in
                // A backup whose manifest cannot be read may need any of them.
                guard try Self.unusable(in: root).isEmpty else { return }
                try JournalArchive.prune(in: root, keeping: kept)
            }
            return removed
        }
    }

    /// Calls `body` with the folder, on a thread that may block.
    func withRoot<Result: Sendable>(
        _ body: @escaping @Sendable (SharedFileDescriptor) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await queue.run { () throws(StatusError) in try body(self.root()) }
    }

    private func withTaskCancellation<Result: Sendable>(
        of writer: BackupWriter,
        _ body: () async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let result: Swift.Result<Result, StatusError> = await withTaskCancellationHandler {
            do throws(StatusError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            writer.cancel()
        }
        return try result.get()
    }
}

// MARK: - Files

extension BackupFolder {
    private static func lock(_ root: SharedFileDescriptor) throws(StatusError) -> SharedFileDescriptor {
        let lock = try reportingInBackups("open", lockName) { () throws(FileSystemError) in
            SharedFileDescriptor(try root.descriptor.openFile(lockName, for: .updatingOrCreating))
        }
        guard try reportingInBackups("lock", lockName, { () throws(FileSystemError) in try lock.descriptor.lock() }) else {
            throw StatusError(
                .failedPrecondition,
                "Another backup is being made or removed in the same folder. Wait for it to end."
            )
        }
        return lock
    }

    private static func begin(in root: SharedFileDescriptor, progress: BackupProgress) throws(StatusError) -> BackupWriter {
        removeLeftovers(in: root)
        try BackupWriter.checkSpace(on: root)
        let (folder, earlier) = try reportingInBackups("create", temporaryName) { () throws(FileSystemError) in
            let previous = try backups(in: root).last
            return (
                try root.createdFolder(temporaryName),
                try previous.flatMap { previous throws(FileSystemError) in try root.folderIfPresent(previous.name) }
            )
        }
        return try BackupWriter(folder, previous: earlier, progress: progress)
    }

    private static func finish(
        _ writer: BackupWriter,
        _ databases: [Backup.Database],
        _ request: BackupRequest,
        in root: SharedFileDescriptor
    ) throws(StatusError) -> Backup {
        let (fileCount, byteCount, digest) = try writer.finish()
        let backup = Backup(
            name: try unusedName(for: request.startTime, in: root),
            startTime: request.startTime,
            endTime: .current(),
            version: request.version,
            databases: databases,
            fileCount: fileCount,
            byteCount: byteCount,
            includesKeys: request.includesKeys
        )
        try reportingInBackups("write", BackupManifest.fileName) { () throws(FileSystemError) in
            let manifest = BackupManifest(backup: backup, listDigest: digest)
            try writer.folder.descriptor.replaceFile(
                BackupManifest.fileName,
                with: manifest.encoded(),
                through: TemporaryName.fixed("manifest")
            )
            try writer.folder.descriptor.openFile(BackupManifest.fileName, for: .reading).makeReadOnlyIfPermitted()
            try root.descriptor.rename(temporaryName, to: backup.name)
            try root.descriptor.synchronize()
        }
        return backup
    }

    private static func unusedName(for time: Timestamp, in root: SharedFileDescriptor) throws(StatusError) -> String {
        let base = time.rfc3339.prefix(19).map { $0 == ":" ? "-" : String($0) }.joined()
        return try reportingInBackups("list", ".") { () throws(FileSystemError) in
            var name = base + "Z"
            var number = 2
            while try root.descriptor.status(of: name) != nil {
                name = "\(base)Z-\(number)"
                number += 1
            }
            return name
        }
    }

    /// Removes what an interrupted backup or removal has left. A failure is not reported: the next one tries again.
    private static func removeLeftovers(in root: SharedFileDescriptor) {
        guard var listing = try? root.descriptor.openForListing() else { return }
        while let entry = try? listing.next() {
            guard entry.name == Array(temporaryName.utf8) else { continue }
            _ = try? root.descriptor.removeTree(entry) { true }
        }
    }

    /// Returns the complete backups in a folder, oldest first.
    static func backups(in root: SharedFileDescriptor) throws(FileSystemError) -> [Backup] {
        let backups = try manifests(in: root).compactMap { try? $0.manifest.get().backup }
        // Two of the same second have numbers after it. One of the future was made while the clock was wrong, before the others.
        let now = Timestamp.current()
        return backups.sorted { a, b in
            let (isFutureA, isFutureB) = (a.startTime > now, b.startTime > now)
            guard isFutureA == isFutureB else { return isFutureA }
            return (a.startTime, a.name) < (b.startTime, b.name)
        }
    }
}

// Manifests.
extension BackupFolder {
    /// Reads the manifests of the backups in a folder, by the names of the backups.
    private static func manifests(
        in root: SharedFileDescriptor
    ) throws(FileSystemError) -> [(name: String, manifest: Result<BackupManifest, StatusError>)] {
        var manifests: [(name: String, manifest: Result<BackupManifest, StatusError>)] = []
        var listing = try root.descriptor.openForListing()
        while let entry = try listing.next() {
            guard let name = String(validating: entry.bytes, as: UTF8.self), !TemporaryName.matches(entry.name),
                try root.descriptor.kind(of: entry) == .folder, let folder = try root.folderIfPresent(name),
                let bytes = try folder.descriptor.contents(ofFile: BackupManifest.fileName, maximumBytes: 1 << 20)
            else { continue }
            manifests.append((name, Result { () throws(StatusError) in try BackupManifest(bytes, name: name) }))
        }
        return manifests
    }

    /// Returns the errors of the manifests that cannot be used, by the names of the backups, which are not listed.
    package func unusable() async throws(StatusError) -> [(name: String, error: StatusError)] {
        try await withRoot { root throws(StatusError) in
            try reportingInBackups("list", ".") { () throws(FileSystemError) in try Self.unusable(in: root) }
        }
    }

    private static func unusable(
        in root: SharedFileDescriptor
    ) throws(FileSystemError) -> [(name: String, error: StatusError)] {
        try manifests(in: root).compactMap { name, manifest in
            if case .failure(let error) = manifest { (name, error) } else { nil }
        }.sorted { $0.name < $1.name }
    }

    /// Returns whether a folder is a folder for backups or a backup, or anywhere in a backup.
    static func contains(_ folder: SharedFileDescriptor) throws(FileSystemError) -> Bool {
        // Only directly above: another folder with this name may be anywhere further up.
        if try folder.descriptor.status(of: lockName) != nil { return true }
        var folder = folder
        while true {
            if try folder.descriptor.status(of: BackupManifest.fileName) != nil,
                try folder.descriptor.status(of: BackupWriter.fileListName) != nil
            {
                return true
            }
            // A folder above may be none that this user may read.
            guard let parent = try? SharedFileDescriptor(folder.descriptor.openFolder("..")) else { return false }
            // The parent of the topmost folder is itself.
            guard try parent.descriptor.status().fileID != folder.descriptor.status().fileID else { return false }
            folder = parent
        }
    }
}

/// Calls `body`, and converts its file system errors to `StatusError`, as ``reporting(_:_:in:_:)`` does, for files of the folder for backups.
func reportingInBackups<Result: ~Copyable>(
    _ action: String,
    _ filePath: @autoclosure () -> String,
    _ body: () throws(FileSystemError) -> Result
) throws(StatusError) -> Result {
    do throws(StatusError) {
        return try reporting(action, filePath(), in: BackupFolder.description, body)
    } catch {
        throw error.ofBackupDisk()
    }
}
