internal import Concurrency
internal import Dispatch
internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO

/// A snapshot of an open store, read file by file: a data folder as after a crash.
///
/// The document files are read first, each as it is when its turn comes. The journal follows, up to the last commit that any of them
/// may show, and the manifest of the checkpoint before. Opening the copy replays the commits in between, which brings all files to
/// the last one. An actor on its own queue, since it blocks on the disk.
actor FileStoreSnapshot: StoreSnapshot {
    private enum Phase {
        case documents
        case journal
        case files
        case end
    }

    /// A folder that is being listed.
    private final class OpenFolder {
        let descriptor: SharedFileDescriptor
        let path: String
        var listing: FolderListing

        init(_ descriptor: SharedFileDescriptor, _ path: String) throws(FileSystemError) {
            (self.descriptor, self.path) = (descriptor, path)
            listing = try descriptor.descriptor.openForListing()
        }
    }

    /// A file that is being read.
    private struct OpenFile {
        let descriptor: SharedFileDescriptor
        let path: String
        let modifiedTime: Int64
        let byteCount: Int
        var offset = 0
    }

    private let store: FileStore
    private let journal: Journal
    private let retention: SegmentRetention
    private let manifest: DataFolderManifest
    private let quarantined: [QuarantinedDocument]
    /// The file of receipts; `nil` if there was none. The journal has those of later commits.
    private let receipts: [UInt8]?
    private let root: SharedFileDescriptor
    private var phase = Phase.documents
    private var folders: [OpenFolder] = []
    private var files: [OpenFile] = []
    /// The last commit of the snapshot, once the documents have been read.
    private var last: SequenceNumber?

    var lastSequence: SequenceNumber? { last }

    private nonisolated let executor = SerialQueueExecutor(label: "hearth.snapshot", qos: .utility)
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(of store: FileStore) throws(StatusError) {
        self.store = store
        journal = store.components.checkpointer.journal
        // In this order: segments that the manifest needs are not removed from here on.
        retention = journal.retainSegments()
        (manifest, quarantined) = try store.components.checkpointer.quarantine.recorded()
        let data = store.data
        receipts = try data.contents(ofFile: StoredReceipts.fileName, maximumBytes: .max)
        root = try reporting("open", ".") { () throws(FileSystemError) in SharedFileDescriptor(try data.root.openFolder(".")) }
        let documents = try reporting("list", DataFolder.documentsName) { () throws(FileSystemError) in
            try OpenFolder(
                SharedFileDescriptor(try data.root.openFolder(DataFolder.documentsName)),
                DataFolder.documentsName
            )
        }
        folders = [documents]
    }

    func next() async throws(StatusError) -> [SnapshotPart]? {
        while true {
            var parts: [SnapshotPart] = []
            var byteCount = 0
            while byteCount < SnapshotPart.maximumBytes, let part = try nextPart() {
                parts.append(part)
                byteCount += part.bytes.count + part.path.utf8.count
            }
            if !parts.isEmpty { return parts }
            switch phase {
            case .documents:
                try store.data.checkPresence()
                // After the last document was read: what a later commit wrote is in none of the files.
                let position = try await store.safePosition()
                last = position.lastSequence
                files = try journalFiles(through: position.lastSequence)
                phase = .journal
            case .journal:
                try retention.check()
                phase = .files
                return try otherFiles()
            case .files: phase = .end
            case .end: return nil
            }
        }
    }

    /// Returns the next part of a file that is open, or of the next file in the folders; `nil` at the end of the phase.
    private func nextPart() throws(StatusError) -> SnapshotPart? {
        while files.isEmpty, !folders.isEmpty { try openNextEntry() }
        guard var file = files.first else { return nil }
        let bytes = try reporting("read", file.path) { [file] () throws(FileSystemError) in
            try file.descriptor.descriptor.read(min(file.byteCount - file.offset, SnapshotPart.maximumBytes), at: file.offset)
        }
        let part = SnapshotPart(path: file.path, modifiedTime: file.modifiedTime, offset: file.offset, bytes: bytes)
        file.offset += bytes.count
        // A file that has become shorter ends here.
        if file.offset >= file.byteCount || bytes.isEmpty { files.removeFirst() } else { files[0] = file }
        return part
    }

    /// Opens the next entry of the innermost folder: a file to read, or a folder to list.
    private func openNextEntry() throws(StatusError) {
        guard let folder = folders.last else { return }
        try reporting("read", folder.path) { () throws(FileSystemError) in
            guard let entry = try folder.listing.next() else {
                _ = folders.removeLast()
                return
            }
            // Hearth gives no file another name, and none of its users can see such a file.
            guard let name = String(validating: entry.bytes, as: UTF8.self), !TemporaryName.matches(entry.name) else { return }
            let path = folder.path + "/" + name
            do throws(FileSystemError) {
                switch try folder.descriptor.descriptor.kind(of: entry) {
                // No document is in a deeper folder.
                case .folder where folders.count + 2 < SnapshotPart.maximumDepth:
                    folders.append(
                        try OpenFolder(SharedFileDescriptor(try folder.descriptor.descriptor.openFolder(name)), path)
                    )
                case .file:
                    let file = SharedFileDescriptor(try folder.descriptor.descriptor.openFile(name, for: .reading))
                    try append(file, path)
                default: break
                }
            } catch {
                // Removed since it was listed, or replaced by a link.
                guard error.isNotFound || error.isSymbolicLink else { throw error }
            }
        }
    }

    private func append(_ file: SharedFileDescriptor, _ path: String, byteCount: Int? = nil) throws(FileSystemError) {
        let status = try file.descriptor.status()
        files.append(
            OpenFile(
                descriptor: file,
                path: path,
                modifiedTime: status.identity.modifiedMicroseconds,
                byteCount: byteCount ?? status.size
            )
        )
    }

    /// Opens the parts of the journal up to a commit.
    private func journalFiles(through last: SequenceNumber) throws(StatusError) -> [OpenFile] {
        let parts: [Journal.SegmentPart]
        do throws(StatusError) {
            parts = try journal.segmentParts(through: last)
        } catch {
            // A journal without which all documents are complete may be damaged.
            guard error.code == .dataLoss, isClean(at: last) else { throw error }
            return []
        }
        var opened: [OpenFile] = []
        for part in parts {
            let file = try journal.openSegment(part.name)
            let path = "\(Journal.folderName)/\(part.name)"
            let time = try reporting("read", path) { () throws(FileSystemError) in
                try file.descriptor.status().identity.modifiedMicroseconds
            }
            opened.append(OpenFile(descriptor: file, path: path, modifiedTime: time, byteCount: part.byteCount))
        }
        return opened
    }

    /// Returns whether the documents are complete without the journal: no commit was made since the checkpoint.
    private func isClean(at last: SequenceNumber) -> Bool {
        last == manifest.sequence && quarantined.isEmpty
    }

    /// Returns the files beside the documents, the manifest last.
    private func otherFiles() throws(StatusError) -> [SnapshotPart] {
        let last = last ?? manifest.sequence
        let time = Timestamp.current().microseconds
        var names = [IndexDefinitions.fileName, StoredQuota.fileName]
        for name in LockedAtomicFile.Name.copied where name != .keys || manifest.database == nil { names.append(name.rawValue) }
        var parts: [SnapshotPart] = []
        func add(_ name: String, _ bytes: [UInt8]) {
            for offset in stride(from: 0, to: max(1, bytes.count), by: SnapshotPart.maximumBytes) {
                let piece = Array(bytes[offset..<min(bytes.count, offset + SnapshotPart.maximumBytes)])
                parts.append(SnapshotPart(path: name, modifiedTime: time, offset: offset, bytes: piece))
            }
        }
        for name in names {
            let bytes = try reporting("read", name) { () throws(FileSystemError) in
                try root.descriptor.contents(ofFile: name, maximumBytes: ReplicatedFile.maximumBytes)
            }
            if let bytes { add(name, bytes) }
        }
        if let receipts { add(StoredReceipts.fileName, receipts) }
        if !quarantined.isEmpty { add(DataFolder.quarantineName, QuarantinedDocuments.encoded(quarantined)) }
        var copy = manifest
        copy.isClean = isClean(at: last)
        copy.hasQuarantinedDocuments = !quarantined.isEmpty
        copy.hasTemporaryFile = false
        copy.datedFiles = nil
        copy.openIndex = nil
        copy.indexEdition = nil
        add(DataFolder.manifestName, copy.encoded())
        return parts
    }
}
