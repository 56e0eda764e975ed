internal import Dispatch
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging
internal import StorageIO
internal import Synchronization

/// The archive of journals in the folder for backups: `journals/EPOCH/`, with the segments of one history under their own names.
///
/// Each call copies what was committed since the last one. A file of the archive is a prefix of its segment; all but the last are
/// complete. The journal keeps what is not archived yet, unless the archive falls behind by more than a ``SegmentRetention`` may keep:
/// then it has a gap, which is logged.
final class JournalArchive: Sendable {
    /// The part of a history that is archived.
    private struct History {
        /// The last commit in the archive.
        var last: SequenceNumber
        /// The file that is continued, with the size that it has.
        var file: (first: SequenceNumber, byteCount: Int)?
        /// Keeps the segments with later commits.
        var retention: SegmentRetention
    }

    private let histories = Mutex<[Epoch: History]>([:])
    private let queue = WorkQueue(label: "hearth.archive", width: 1, qos: .utility)

    /// The name of the folder in the folder for backups.
    static let folderName = "journals"
    private static let pieceBytes = 1 << 20

    /// Archives the commits of a store in a folder for backups. They are durable when this returns.
    func archive(_ store: FileStore, in root: SharedFileDescriptor) async throws(StatusError) {
        let journal = store.components.checkpointer.journal
        let last = store.position.lastSequence
        let logger = store.components.logger
        try await queue.run { () throws(StatusError) in
            // One call at a time, so that no other one changes the history meanwhile.
            let known = self.histories.withLock { $0[journal.epoch] }
            guard last > known?.last ?? .zero else { return }
            let folder = try reportingInBackups("create", Self.path(of: journal)) { () throws(FileSystemError) in
                try root.createdFolder(Self.folderName).createdFolder(journal.epoch.description)
            }
            var history = if let known { known } else { try Self.history(of: journal, in: folder, logger) }
            if !history.retention.isOn(journal) {
                history.retention = journal.retainSegments(after: history.last)
                if let oldest = journal.oldest, oldest > history.last.next { Self.logGap(after: history.last, logger) }
            }
            do throws(StatusError) {
                try history.retention.check()
            } catch {
                Self.logGap(after: history.last, logger)
            }
            try BackupWriter.checkSpace(on: folder)
            try self.copy(journal, &history, to: folder, through: last, logger)
            history.last = last
            history.retention = journal.retainSegments(after: last)
            self.histories.withLock { $0[journal.epoch] = history }
        }
    }

    /// Returns what an earlier run has archived. The last file is written anew: it may end with what a power cut has left.
    private static func history(
        of journal: Journal,
        in folder: SharedFileDescriptor,
        _ logger: Logger
    ) throws(StatusError) -> History {
        let retention = journal.retainSegments()
        let files = try reportingInBackups("list", path(of: journal)) { () throws(FileSystemError) in try segments(in: folder) }
        guard let first = files.last.flatMap({ JournalSegment.first(ofName: Array($0.utf8)) }) else {
            return History(last: .zero, retention: retention)
        }
        let archived = try Journal.lastCommit(in: folder, epoch: journal.epoch)?.sequence ?? first.previous
        if let oldest = journal.oldest, oldest > archived.next { logGap(after: archived, logger) }
        return History(last: first.previous, retention: retention)
    }

    private static func path(of journal: Journal) -> String { "\(folderName)/\(journal.epoch)" }

    private static func logGap(after sequence: SequenceNumber, _ logger: Logger) {
        logger.error(
            "The archive of the journal has a gap: more was written than could be kept until it was archived. Make a new backup",
            metadata: ["archive.last_sequence": "\(sequence)"]
        )
    }

    private func copy(
        _ journal: Journal,
        _ history: inout History,
        to folder: SharedFileDescriptor,
        through last: SequenceNumber,
        _ logger: Logger
    ) throws(StatusError) {
        for part in try journal.segmentParts(after: history.last, through: last) {
            let source = try journal.openSegment(part.name)
            try reportingInBackups("write", "\(Self.path(of: journal))/\(part.name)") { () throws(FileSystemError) in
                var known = history.file?.first == part.first ? history.file?.byteCount : nil
                if let expected = known, try folder.descriptor.status(of: part.name)?.size != expected {
                    logger.error(
                        "A file of the archive of the journal was changed or removed by others, and is written anew",
                        metadata: ["file": "\(Self.path(of: journal))/\(part.name)"]
                    )
                    known = nil
                }
                // Another file takes the place of one that is not continued, which stays complete until then.
                let name = known == nil ? TemporaryName.fixed("segment") : part.name
                if known == nil { try folder.descriptor.removeFile(name) }
                let file = try folder.descriptor.openFile(name, for: .updatingOrCreating)
                var offset = known ?? 0
                while offset < part.byteCount {
                    let bytes = try source.descriptor.read(min(part.byteCount - offset, Self.pieceBytes), at: offset)
                    guard !bytes.isEmpty else { break }
                    try file.write(bytes, at: offset)
                    offset += bytes.count
                }
                try file.synchronize()
                if known == nil {
                    try folder.descriptor.rename(name, to: part.name)
                    try folder.descriptor.synchronize()
                }
                history.file = (part.first, offset)
            }
        }
    }

    /// Returns the names of the segments in a folder, in order.
    private static func segments(in folder: SharedFileDescriptor) throws(FileSystemError) -> [String] {
        var names: [String] = []
        var listing = try folder.descriptor.openForListing()
        while let entry = try listing.next() {
            if JournalSegment.first(ofName: entry.name) != nil { names.append(entry.text) }
        }
        return names.sorted()
    }
}

// MARK: - Pruning

extension JournalArchive {
    /// Removes what no backup needs: segments with commits before the oldest backup of their history only, and histories that ended
    /// before the oldest backup.
    static func prune(in root: SharedFileDescriptor, keeping backups: [Backup]) throws(FileSystemError) {
        guard let oldest = backups.map(\.startTime).min(), let all = try root.folderIfPresent(folderName) else { return }
        var listing = try all.descriptor.openForListing()
        while let entry = try listing.next() {
            guard let epoch = Epoch(entry.text), let folder = try all.folderIfPresent(entry.text) else { continue }
            let sequences = backups.flatMap(\.databases).filter { $0.epoch == epoch }.map(\.lastSequence)
            if let needed = sequences.min() {
                let segments = try segments(in: folder)
                for (name, next) in zip(segments, segments.dropFirst()) {
                    guard let first = JournalSegment.first(ofName: Array(next.utf8)), first <= needed.next else { break }
                    try folder.descriptor.removeFile(name)
                }
            } else if try folder.descriptor.status().identity.modifiedMicroseconds < oldest.microseconds {
                for name in try segments(in: folder) { try folder.descriptor.removeFile(name) }
                try all.descriptor.removeFolder(entry.text)
            }
        }
    }
}
