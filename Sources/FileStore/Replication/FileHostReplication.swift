internal import Dispatch
internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The replication of the databases of a ``FileStoreHost``.
struct FileHostReplication: HostReplication {
    /// The path of the data folder.
    let path: String
    let databases: DatabaseFolders
    private let queue = WorkQueue(label: "hearth.replication", width: 1, qos: .utility)
    private let removalQueue = WorkQueue(label: "hearth.replication.removal", width: 1, qos: .utility)

    init(path: String, databases: DatabaseFolders) {
        self.path = path
        self.databases = databases
    }

    private func folder(of id: DatabaseID?) -> String { id.map(databases.path(of:)) ?? path }

    private static func fileStore(_ store: any DocumentStore) throws(StatusError) -> FileStore {
        guard let store = store as? FileStore else { throw StatusError(.internal, "The database is not in files.") }
        return store
    }

    /// The names of the files that a standby has from its primary.
    private static func names(of id: DatabaseID?) -> [String] {
        let names = LockedAtomicFile.Name.copied.filter { $0 != .keys || id == nil }
        return [IndexDefinitions.fileName, StoredQuota.fileName] + names.map(\.rawValue)
    }
}

// MARK: - On a primary

extension FileHostReplication {
    func files(of id: DatabaseID?) async throws(StatusError) -> [ReplicatedFile] {
        let folder = folder(of: id)
        return try await queue.run { () throws(StatusError) in
            let root = try DataFolder.openExistingRoot(folder)
            var files: [ReplicatedFile] = []
            for name in Self.names(of: id) {
                let bytes = try reporting("read", name) { () throws(FileSystemError) in
                    try root.contents(ofFile: name, maximumBytes: ReplicatedFile.maximumBytes)
                }
                // Without the file, there is no quota.
                if let bytes = bytes ?? (name == StoredQuota.fileName ? [] : nil) {
                    files.append(ReplicatedFile(name: name, bytes: bytes))
                }
            }
            return files
        }
    }

    func snapshot(of store: any DocumentStore) async throws(StatusError) -> any StoreSnapshot {
        let store = try Self.fileStore(store)
        return try await queue.run { () throws(StatusError) in try FileStoreSnapshot(of: store) }
    }

    func closedPosition(of id: DatabaseID) async throws(StatusError) -> StorePosition? {
        let folder = folder(of: id)
        return try await queue.run { () throws(StatusError) in
            guard let manifest = try DataFolder.readManifest(in: DataFolder.openExistingRoot(folder)), manifest.isClean else {
                return nil
            }
            return StorePosition(
                database: id,
                epoch: manifest.epoch.description,
                lastSequence: manifest.sequence,
                lastCommitTime: manifest.commitTime,
                oldestRetained: manifest.sequence.next,
                lineage: manifest.lineage
            )
        }
    }
}

// MARK: - On a standby

extension FileHostReplication {
    func apply(_ commits: [Commit], to store: any DocumentStore) async throws(StatusError) {
        try await Self.fileStore(store).commitQueue.apply(commits)
    }

    func recordFollowing(_ primary: String) async throws(StatusError) {
        try await StandbyRecord.update(ofFolder: path) { known throws(StatusError) in
            // A promotion that has been begun is not undone.
            guard known?.state != .promoting else { return nil }
            var record = StandbyRecord(primary: primary, state: .following)
            if let known, known.primary == primary { record.consecutiveSnapshotCount = known.consecutiveSnapshotCount }
            return known == record ? nil : record
        }
    }

    func consecutiveSnapshotCount() async throws(StatusError) -> Int {
        try await queue.run { [path] () throws(StatusError) in try StandbyRecord(ofFolder: path)?.consecutiveSnapshotCount ?? 0 }
    }

    func recordCaughtUp() async throws(StatusError) {
        try await StandbyRecord.update(ofFolder: path) { record throws(StatusError) in
            guard var record, record.state == .following, record.consecutiveSnapshotCount > 0 else { return nil }
            record.consecutiveSnapshotCount = 0
            return record
        }
    }

    func has(_ file: ReplicatedFile, of id: DatabaseID?) async -> Bool {
        guard Self.names(of: id).contains(file.name) else { return false }
        let folder = folder(of: id)
        let bytes = try? await queue.run { () throws(StatusError) in
            let root = try DataFolder.openExistingRoot(folder)
            return try reporting("read", file.name) { () throws(FileSystemError) in
                try root.contents(ofFile: file.name, maximumBytes: ReplicatedFile.maximumBytes) ?? []
            }
        }
        return bytes == file.bytes
    }

    func replace(_ file: ReplicatedFile, of id: DatabaseID?, in store: any DocumentStore) async throws(StatusError) {
        guard Self.names(of: id).contains(file.name) else {
            throw StatusError(.dataLoss, "The primary sent a file that is none of a database.")
        }
        if file.name == IndexDefinitions.fileName {
            let index = try Self.fileStore(store).components.index
            return try await queue.run { () throws(StatusError) in try index.replaceDefinitions(with: file.bytes) }
        }
        if file.name == StoredQuota.fileName {
            let store = try Self.fileStore(store)
            return try await queue.run { () throws(StatusError) in
                try store.components.quota.replace(withFile: file.bytes, in: store.data)
            }
        }
        guard let name = LockedAtomicFile.Name(rawValue: file.name) else { return }
        _ = try await LockedAtomicFile.open(name, inFolder: folder(of: id)).update { bytes throws(StatusError) in
            bytes == file.bytes ? nil : file.bytes
        }
    }

    func makeReceiver(of id: DatabaseID?) async throws(StatusError) -> any SnapshotReceiver {
        try await queue.run { [path] () throws(StatusError) in
            let root = try DataFolder.openRoot(path, creating: true)
            return try SnapshotFolderReceiver(of: id, in: StandbyFolder.open(in: root))
        }
    }

    func install(_ id: DatabaseID, keepingPrevious: Bool) async throws(StatusError) {
        let target = databases.folderPath(of: id)
        try await queue.run { [path] () throws(StatusError) in
            let root = try DataFolder.openRoot(path, creating: false)
            let standby = try StandbyFolder.open(in: root)
            try reporting("install", target) { () throws(FileSystemError) in
                let (parent, name) = try Self.parent(of: target, in: root)
                guard try parent.descriptor.status(of: name) != nil else {
                    try standby.descriptor.rename(StandbyFolder.incomingName, to: name, in: parent.descriptor)
                    try parent.descriptor.synchronize()
                    try standby.descriptor.synchronize()
                    return
                }
                // The snapshot gets the place of what it replaces before both are exchanged in one step, so that there always is one.
                let place = try StandbyFolder.moveAside(
                    StandbyFolder.incomingName,
                    from: standby.descriptor,
                    keeping: keepingPrevious,
                    in: standby
                )
                do throws(FileSystemError) {
                    try place.folder.descriptor.exchange(place.name, with: name, in: parent.descriptor)
                } catch {
                    guard error.isUnsupported else { throw error }
                    _ = try StandbyFolder.moveAside(name, from: parent.descriptor, keeping: keepingPrevious, in: standby)
                    try place.folder.descriptor.rename(place.name, to: name, in: parent.descriptor)
                }
                try parent.descriptor.synchronize()
                try place.folder.descriptor.synchronize()
            }
        }
    }

    func setAside(_ id: DatabaseID) async throws(StatusError) -> String {
        let target = databases.folderPath(of: id)
        return try await queue.run { [path] () throws(StatusError) in
            let root = try DataFolder.openRoot(path, creating: false)
            let standby = try StandbyFolder.open(in: root)
            return try reporting("set aside", target) { () throws(FileSystemError) in
                let (parent, name) = try Self.parent(of: target, in: root)
                let place = try StandbyFolder.moveAside(name, from: parent.descriptor, keeping: true, in: standby)
                try parent.descriptor.synchronize()
                return "\(StandbyFolder.name)/\(place.name)"
            }
        }
    }

    /// Returns the folder that contains an entry, which is created if needed, and the name of the entry in it.
    private static func parent(
        of path: String,
        in root: borrowing FileDescriptor
    ) throws(FileSystemError) -> (SharedFileDescriptor, name: String) {
        let names = path.pathComponents.map(String.init)
        var parent = SharedFileDescriptor(try root.openFolder("."))
        for name in names.dropLast() {
            let folder = try parent.createdFolder(name)
            try parent.descriptor.synchronize()
            parent = folder
        }
        return (parent, names.last ?? path)
    }

    func installAtNextStart(keepingPrevious: Bool) async throws(StatusError) {
        try await StandbyRecord.update(ofFolder: path) { record throws(StatusError) in
            guard var record, record.state == .following else { return nil }
            record.consecutiveSnapshotCount += 1
            return record
        }
        try await queue.run { [path] () throws(StatusError) in
            try StandbyFolder.beginInstallation(
                in: DataFolder.openRoot(path, creating: false),
                keepingPrevious: keepingPrevious
            )
        }
    }

    func setAsideCommits(
        after sequence: SequenceNumber,
        of store: any DocumentStore,
        named name: String
    ) async throws(StatusError) -> SetAsideCommits {
        let store = try Self.fileStore(store)
        return try await queue.run { [path] () throws(StatusError) in
            let standby = try StandbyFolder.open(in: DataFolder.openRoot(path, creating: false))
            let journal = store.components.checkpointer.journal
            return try SetAsideJournal(named: name, in: standby)
                .write(journal, after: sequence, through: store.position.lastSequence)
        }
    }

    func beginBranch(_ branch: HistoryBranch, of id: DatabaseID?) async throws(StatusError) {
        let folder = folder(of: id)
        try await queue.run { () throws(StatusError) in
            let data = try DataFolder.open(folder, as: DatabaseIdentity(id))
            defer { data.unlock() }
            try data.continueHistory(as: branch)
        }
    }

    func promote() async throws(StatusError) {
        try await Promotion.begin(inFolder: path)
    }

    func removeReplaced() async throws(StatusError) {
        let isStopped = StopFlag()
        let result = await withTaskCancellationHandler { () async -> Result<Void, StatusError> in
            do throws(StatusError) {
                try await removalQueue.run { [path] () throws(StatusError) in
                    let root = try DataFolder.openRoot(path, creating: false)
                    try StandbyFolder.removeReplaced(in: StandbyFolder.open(in: root)) { !isStopped.value }
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            isStopped.set()
        }
        try result.get()
    }

    private final class StopFlag: Sendable {
        private let flag = Atomic(false)

        var value: Bool { flag.load(ordering: .relaxed) }

        func set() { flag.store(true, ordering: .relaxed) }
    }
}
