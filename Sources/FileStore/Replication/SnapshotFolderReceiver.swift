internal import Concurrency
internal import Dispatch
internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO
internal import UTF8Text

/// Receives a snapshot into the folder ``StandbyFolder/incomingName``. An actor on its own queue, since it blocks on the disk.
actor SnapshotFolderReceiver: SnapshotReceiver {
    /// The database that the snapshot must be of; `nil` for a default one.
    private let id: DatabaseID?
    private let folder: SharedFileDescriptor
    /// The folder of the file that is being written, with its path.
    private var parent: (path: [Substring], folder: SharedFileDescriptor)?
    /// The file that is being written.
    private var file: (path: String, descriptor: SharedFileDescriptor, byteCount: Int)?
    /// True once the manifest has been received, which comes last.
    private var isComplete = false
    private var partCount = 0

    private nonisolated let executor = SerialQueueExecutor(label: "hearth.standby.snapshot", qos: .utility)
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The number of parts between two checks of the space that is left.
    private static let spaceCheckInterval = 64
    /// Begins to receive into an empty folder.
    init(of id: DatabaseID?, in standby: SharedFileDescriptor) throws(StatusError) {
        self.id = id
        try StandbyFolder.remove(StandbyFolder.incomingName, in: standby)
        folder = try reporting("create", StandbyFolder.name) { () throws(FileSystemError) in
            let folder = try standby.createdFolder(StandbyFolder.incomingName)
            for name in [DataFolder.documentsName, Journal.folderName] { try folder.descriptor.createFolder(name) }
            return folder
        }
    }

    func write(_ part: SnapshotPart) throws(StatusError) {
        guard !isComplete || part.path == DataFolder.manifestName else { throw Self.doesNotFit(part) }
        if partCount.isMultiple(of: Self.spaceCheckInterval) { try checkSpace() }
        partCount += 1
        if part.offset == 0 {
            try open(part)
        } else {
            guard let file, file.path == part.path, file.byteCount == part.offset else { throw Self.doesNotFit(part) }
        }
        guard let file else { throw Self.doesNotFit(part) }
        try reporting("write", Self.displayPath(of: part)) { () throws(FileSystemError) in
            try file.descriptor.descriptor.write(part.bytes, at: part.offset)
            try file.descriptor.descriptor.setModificationTimeIfPermitted(microseconds: part.modifiedTime)
        }
        self.file?.byteCount += part.bytes.count
        if part.path == DataFolder.manifestName { isComplete = true }
    }

    func finish() throws(StatusError) {
        guard isComplete, let manifest = try DataFolder.readManifest(in: folder.descriptor), manifest.database == id else {
            throw StatusError(.dataLoss, "The snapshot that the primary sent is not complete, or of another database.")
        }
        try reporting("sync", StandbyFolder.name) { () throws(FileSystemError) in
            try folder.descriptor.synchronizeFileSystem()
        }
    }

    private func open(_ part: SnapshotPart) throws(StatusError) {
        let components = part.path.pathComponents
        guard let name = components.last.map(String.init), Self.isPermitted(components) else { throw Self.doesNotFit(part) }
        let folders = Array(components.dropLast())
        if parent.map({ $0.path != folders }) ?? true {
            let root = folder
            let found = try reporting("create", Self.displayPath(of: part)) { () throws(FileSystemError) in
                var found = root
                for name in folders { found = try found.createdFolder(String(name)) }
                return found
            }
            parent = (folders, found)
        }
        guard let parent else { return }
        // Private from the start, like the file of keys in a data folder.
        let isPrivate = name == LockedAtomicFile.Name.keys.rawValue
        let descriptor = try reporting("create", Self.displayPath(of: part)) { () throws(FileSystemError) in
            // A document that was written anew while its folder was listed can come twice.
            try parent.folder.descriptor.removeFile(name)
            let file = try parent.folder.descriptor.openFile(name, for: .creating)
            if isPrivate { try file.makePrivate() }
            return SharedFileDescriptor(file)
        }
        file = (part.path, descriptor, 0)
    }

    /// Returns whether a path is that of a document, a segment of the journal, or another file of a database.
    private static func isPermitted(_ components: [Substring]) -> Bool {
        let isSafe = components.allSatisfy { component in
            let bytes = component.utf8
            return !bytes.isEmpty && bytes.count <= 255 && !bytes.contains(0) && component != "." && component != ".."
                && !TemporaryName.matches(Array(bytes))
        }
        guard isSafe, let first = components.first, components.count <= SnapshotPart.maximumDepth else { return false }
        if components.count == 1 {
            let names =
                [
                    DataFolder.manifestName, DataFolder.quarantineName, IndexDefinitions.fileName, StoredQuota.fileName,
                    StoredReceipts.fileName,
                ] + LockedAtomicFile.Name.copied.map(\.rawValue)
            return names.contains(String(first))
        }
        if first == Journal.folderName {
            return components.count == 2 && JournalSegment.first(ofName: Array(components[1].utf8)) != nil
        }
        return first == DataFolder.documentsName
    }

    private func checkSpace() throws(StatusError) {
        let space = try reporting("get the free space of", ".") { () throws(FileSystemError) in
            try folder.descriptor.diskSpace()
        }
        let minimum = min(256 << 20, space.total / 20)
        guard space.free < minimum else { return }
        throw StatusError(
            .resourceExhausted,
            "The disk has \(space.free >> 20) MiB left; a snapshot of the primary leaves \(minimum >> 20) MiB. Free space."
        )
    }

    private static func doesNotFit(_ part: SnapshotPart) -> StatusError {
        StatusError(
            .dataLoss,
            "The primary sent a part of a snapshot that does not fit: \(displayPath(of: part)), byte \(part.offset)."
        )
    }

    private static func displayPath(of part: SnapshotPart) -> String { Excerpt(part.path).description }
}
