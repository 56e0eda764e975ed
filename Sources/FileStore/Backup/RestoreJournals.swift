internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO

/// The journals from which a restore takes the commits that follow a backup: those of later backups in the same folder, the archive
/// there, and that of the data folder that is replaced.
struct RestoreJournals {
    private let backups: [(backup: Backup, folder: SharedFileDescriptor)]
    private let archive: SharedFileDescriptor?
    private let previous: (root: SharedFileDescriptor, naming: FileNaming)?

    /// Finds the journals.
    ///
    /// - Parameter previous: The path of the data folder that is replaced; `nil` if it is lost.
    init(after reader: BackupReader, previous: String?) throws(StatusError) {
        (backups, archive) = try reporting("list", ".") { () throws(FileSystemError) in
            let all = SharedFileDescriptor(try reader.folder.descriptor.openFolder(".."))
            var found: [(Backup, SharedFileDescriptor)] = []
            for backup in try BackupFolder.backups(in: all) where backup.startTime >= reader.backup.startTime {
                if let folder = try all.folderIfPresent(backup.name) { found.append((backup, folder)) }
            }
            return (found, try all.folderIfPresent(JournalArchive.folderName))
        }
        self.previous = try previous.map { path throws(StatusError) in
            let root = SharedFileDescriptor(try DataFolder.openRoot(path, creating: false))
            return (root, try DataFolder.requireManifest(in: root.descriptor, path).naming)
        }
    }

    /// Returns the highest known commit of a database.
    func lastCommit(of database: Backup.Database) throws(StatusError) -> (sequence: SequenceNumber, time: Timestamp?) {
        var last = (sequence: database.lastSequence, time: database.lastCommitTime)
        let add = { (sequence: SequenceNumber, time: Timestamp?) in
            last = (max(last.sequence, sequence), [last.time, time].compactMap(\.self).max())
        }
        for (backup, _) in backups {
            for other in backup.databases where other.id == database.id && other.epoch == database.epoch {
                add(other.lastSequence, other.lastCommitTime)
            }
        }
        if let archived = try archivedJournal(of: database) {
            if let commit = try Journal.lastCommit(in: archived, epoch: database.epoch) { add(commit.sequence, commit.time) }
        }
        guard let previous, let folder = try folder(of: database.id, in: previous.root, previous.naming),
            let manifest = try DataFolder.readManifest(in: folder.descriptor)
        else { return last }
        add(manifest.sequence, manifest.commitTime)
        let journal = try reporting("open", Journal.folderName) { () throws(FileSystemError) in
            try folder.folderIfPresent(Journal.folderName)
        }
        if let journal, let commit = try Journal.lastCommit(in: journal, epoch: manifest.epoch) {
            add(commit.sequence, commit.time)
        }
        return last
    }

    /// Calls a body with the commits of a database that follow those of the backup, in order and without gaps, as far as they are wanted
    /// and known.
    ///
    /// - Returns: The last commit, and whether a later one is known, which is not wanted.
    func forEachCommit(
        of database: Backup.Database,
        until limit: RestoreTarget.Limit,
        naming: FileNaming,
        _ body: (Commit) throws(StatusError) -> Void
    ) throws(StatusError) -> (sequence: SequenceNumber, time: Timestamp?, isComplete: Bool) {
        var roots = backups.map { (root: $0.folder, naming: naming) }
        if let previous { roots.append((previous.root, previous.naming)) }
        var journals: [SharedFileDescriptor] = []
        for (root, naming) in roots {
            let folder = try folder(of: database.id, in: root, naming)
            let journal = try reporting("open", Journal.folderName) { () throws(FileSystemError) in
                try folder?.folderIfPresent(Journal.folderName)
            }
            if let journal { journals.append(journal) }
        }
        if let archived = try archivedJournal(of: database) { journals.append(archived) }
        var last = (sequence: database.lastSequence, time: database.lastCommitTime, isComplete: false)
        var before: SequenceNumber?
        // One journal may go on where another one ends.
        while before != last.sequence, !last.isComplete {
            before = last.sequence
            for journal in journals where !last.isComplete {
                last.sequence = try Journal.forEachCommit(in: journal, epoch: database.epoch, after: last.sequence) {
                    commit throws(StatusError) in
                    guard limit.includes(commit.sequence, commit.time) else {
                        last.isComplete = true
                        return false
                    }
                    try body(commit)
                    last.time = commit.time
                    return true
                }
            }
        }
        if last.sequence == limit.sequence { last.isComplete = true }
        return last
    }

    /// Returns the number of archived histories that no database of a backup has, and that have commits after it: those of databases that
    /// were created later.
    func missingCount(in backup: Backup) throws(StatusError) -> Int {
        guard let archive else { return 0 }
        let epochs = try reporting("list", JournalArchive.folderName) { () throws(FileSystemError) in
            var epochs: [(Epoch, SharedFileDescriptor)] = []
            var listing = try archive.descriptor.openForListing()
            while let entry = try listing.next() {
                guard let epoch = Epoch(entry.text), let folder = try archive.folderIfPresent(entry.text) else { continue }
                epochs.append((epoch, folder))
            }
            return epochs
        }
        var count = 0
        for (epoch, folder) in epochs where !backup.databases.contains(where: { $0.epoch == epoch }) {
            if let last = try Journal.lastCommit(in: folder, epoch: epoch), last.time > backup.startTime { count += 1 }
        }
        return count
    }

    private func archivedJournal(of database: Backup.Database) throws(StatusError) -> SharedFileDescriptor? {
        try reporting("open", JournalArchive.folderName) { () throws(FileSystemError) in
            try archive?.folderIfPresent(database.epoch.description)
        }
    }

    private func folder(
        of id: DatabaseID?,
        in root: SharedFileDescriptor,
        _ naming: FileNaming
    ) throws(StatusError) -> SharedFileDescriptor? {
        guard let id else { return root }
        let path = DatabaseFolders.folderPath(of: id, naming: naming)
        return try reporting("open", path) { () throws(FileSystemError) in
            var folder: SharedFileDescriptor? = root
            for name in path.split(separator: "/") { folder = try folder?.folderIfPresent(String(name)) }
            return folder
        }
    }
}
