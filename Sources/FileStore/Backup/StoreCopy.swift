internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging
internal import StorageIO

/// A copy of a store's data folder in a backup. Its methods block the calling thread.
struct StoreCopy: Sendable {
    private let data: DataFolder
    private let backup: BackupWriter
    private let target: SharedFileDescriptor
    private let previous: SharedFileDescriptor?
    /// The path of the folder in the backup, with a slash at its end unless it is the backup's own.
    private let path: String

    /// Creates the folder of the copy.
    ///
    /// - Parameter folder: Its path in the backup; `nil` for the backup's own folder.
    init(_ data: DataFolder, to backup: BackupWriter, folder: String?) throws(StatusError) {
        self.data = data
        self.backup = backup
        path = folder.map { $0 + "/" } ?? ""
        (target, previous) = try reportingInBackups("create", folder ?? ".") { () throws(FileSystemError) in
            var (target, previous) = (backup.folder, backup.previous)
            for name in folder?.split(separator: "/").map(String.init) ?? [] {
                target = try target.createdFolder(name)
                previous = try previous?.folderIfPresent(name)
            }
            return (target, previous)
        }
    }

    private var documentsPath: String { path + DataFolder.documentsName }

    /// Copies the document files, each as it is when its turn comes.
    func copyDocuments() throws(StatusError) {
        let (source, copy, earlier) = try reportingInBackups("create", documentsPath) { () throws(FileSystemError) in
            (
                SharedFileDescriptor(try data.root.openFolder(DataFolder.documentsName)),
                try target.createdFolder(DataFolder.documentsName), try previous?.folderIfPresent(DataFolder.documentsName)
            )
        }
        try FolderCopy.run(source, to: copy, previous: earlier, path: documentsPath + "/", in: backup)
        try data.checkPresence()
    }

    /// Copies the journal up to the last commit of the backup. Its records are complete, since they have been synced.
    func copyJournal(_ journal: Journal, after manifest: DataFolderManifest, through last: SequenceNumber) throws(StatusError) {
        let folder = try reportingInBackups("create", path + Journal.folderName) { () throws(FileSystemError) in
            try target.createdFolder(Journal.folderName)
        }
        let parts: [Journal.SegmentPart]
        do throws(StatusError) {
            parts = try journal.segmentParts(through: last)
        } catch {
            // A journal without which all documents are complete may be damaged.
            guard error.code == .dataLoss, last <= manifest.sequence else { throw error }
            return
        }
        for part in parts {
            try backup.check()
            let file = try journal.openSegment(part.name)
            try backup.copyFile(
                part.name,
                file,
                byteCount: part.byteCount,
                to: folder,
                path: path + Journal.folderName + "/"
            )
        }
    }

    /// Copies the other files of the database. Each is replaced atomically when it changes.
    func copyFiles(includingKeys: Bool) throws(StatusError) {
        var names = [IndexDefinitions.fileName, StoredQuota.fileName]
        for name in LockedAtomicFile.Name.copied where name != .keys || includingKeys { names.append(name.rawValue) }
        let root = try reporting("open", ".") { () throws(FileSystemError) in SharedFileDescriptor(try data.root.openFolder("."))
        }
        for name in names { try backup.copyFile(name, from: root, to: target, previous: nil, path: path) }
    }

    /// Writes the receipts of all commits of the backup.
    func write(_ receipts: StoredReceipts) throws(StatusError) {
        guard receipts.storedSequence != nil else { return }
        try backup.write(receipts.encoded(), as: StoredReceipts.fileName, to: target, path: path)
    }

    /// Writes the manifest: that of a store that was closed after the last commit of the backup.
    func write(
        _ manifest: DataFolderManifest,
        at position: StorePosition,
        with receipts: StoredReceipts
    ) throws(StatusError) {
        var manifest = manifest
        manifest.receiptsSequence = receipts.storedSequence
        manifest.sequence = position.lastSequence
        manifest.commitTime = [position.lastCommitTime, manifest.commitTime].compactMap(\.self).max()
        manifest.isClean = true
        manifest.hasQuarantinedDocuments = false
        manifest.hasTemporaryFile = false
        manifest.datedFiles = nil
        // There is no index: it is made anew.
        manifest.openIndex = nil
        manifest.indexEdition = nil
        try backup.write(manifest.encoded(), as: DataFolder.manifestName, to: target, path: path)
    }
}

// MARK: - Commits

extension StoreCopy {
    /// Brings the copies of the documents to the last commit of the backup, as a recovery would.
    ///
    /// - Parameter quarantined: The documents whose files lack their last commits.
    func apply(
        _ quarantined: [QuarantinedDocument],
        _ journal: Journal,
        after first: SequenceNumber,
        through last: SequenceNumber,
        _ receipts: inout StoredReceipts,
        _ logger: Logger
    ) throws(StatusError) {
        var documents = CopiedDocuments(in: try openCopy(), logger: logger)
        for document in quarantined { try apply(document.path, document.image, document.time, &documents) }
        var sequence = first
        while sequence < last {
            try backup.check()
            for commit in try journal.commits(after: sequence, through: last) {
                for change in commit.changes { try apply(change.path, change.after, commit.time, &documents) }
                receipts.record(commit)
                sequence = commit.sequence
            }
        }
        documents.finish()
    }

    private func apply(
        _ document: DocumentPath,
        _ image: EncodedDocument?,
        _ time: Timestamp,
        _ documents: inout CopiedDocuments
    ) throws(StatusError) {
        try backup.replaceFile(at: path + documents.filePath(of: document)) { () throws(StatusError) in
            try documents.apply(document, image, of: time)
        }
    }

    /// Opens the copy as a data folder, without a lock: nobody else knows it.
    private func openCopy() throws(StatusError) -> DataFolder {
        try reporting("open", documentsPath) { () throws(FileSystemError) in
            DataFolder(
                root: try target.descriptor.openFolder("."),
                lock: try target.descriptor.openFolder("."),
                documents: try target.descriptor.openFolder(DataFolder.documentsName),
                inodes: [],
                manifest: data.manifest
            )
        }
    }
}
