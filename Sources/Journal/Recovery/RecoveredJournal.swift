package import DocumentModel
package import DocumentStore
package import StorageIO

/// A journal after recovery, ready for appending.
package struct RecoveredJournal: ~Copyable {
    package let journal: Journal
    let writer: JournalWriter
    /// The last commit in the journal; `nil` if it contains none.
    package let last: (sequence: SequenceNumber, time: Timestamp)?
    /// The end of the last segment's records.
    package let end: Int
    /// The last damage that was skipped, because it affects only commits whose document files are durable; `nil` without damage.
    package let damage: JournalLocation?
    /// The torn tail that was truncated, and its size: a batch that was not acknowledged, or is indistinguishable from one.
    package let truncatedTail: (location: JournalLocation, byteCount: Int)?

    /// Consumes the recovered journal and returns its writer, which appends after the last commit.
    package consuming func makeWriter() -> JournalWriter {
        writer
    }
}

extension Journal {
    /// The state of the data folder and the configuration that ``open(_:_:replay:)`` needs.
    package struct RecoveryOptions {
        /// The epoch that the segments must belong to.
        let epoch: Epoch
        /// The last commit whose document files are known to be durable.
        let checkpoint: SequenceNumber
        /// True if the database was closed after that commit, so that the journal is not needed and may be missing.
        let isClean: Bool
        /// The preallocated size of segments.
        let segmentBytes: Int

        /// Creates options.
        package init(epoch: Epoch, checkpoint: SequenceNumber, isClean: Bool, segmentBytes: Int) {
            self.epoch = epoch
            self.checkpoint = checkpoint
            self.isClean = isClean
            self.segmentBytes = segmentBytes
        }
    }

    /// Opens the journal: scans it from the checkpoint, calls `replay` with each commit after the checkpoint in order, and truncates
    /// the torn tail.
    ///
    /// Damage before the checkpoint loses only the history up to the damage: the segments are left in place, and the readable
    /// journal begins after them. When the database was not closed and the journal does not reach the checkpoint, its last
    /// commits may be lost, and a new epoch begins.
    ///
    /// - Throws: `.dataLoss` when a commit after the checkpoint is not readable although it was once durable; in that case
    ///   nothing has been changed.
    package static func open(
        _ folder: consuming FileDescriptor,
        _ options: RecoveryOptions,
        replay: (Commit) throws(StatusError) -> Void
    ) throws(StatusError) -> RecoveredJournal {
        var recovery = JournalRecovery(options: options, index: try index(of: folder))
        try recovery.run(in: folder, replay: replay)
        try reporting("remove", "\(Journal.folderName)/\(SegmentPreallocator.fileName)") { () throws(FileSystemError) in
            _ = try folder.removeFile(SegmentPreallocator.fileName)
        }
        let isLost = !options.isClean && !recovery.reachesCheckpoint
        if isLost { try recovery.discardAll(in: folder) }
        return try recovery.finish(folder, epoch: isLost ? .random() : options.epoch)
    }

    /// Checks that ``open(_:_:replay:)`` can read all commits that it needs, without changing anything.
    ///
    /// - Throws: The errors of ``open(_:_:replay:)``.
    package static func checkIsRecoverable(
        _ folder: borrowing FileDescriptor,
        _ options: RecoveryOptions
    ) throws(StatusError) {
        var recovery = JournalRecovery(options: options, index: try index(of: folder))
        try recovery.run(in: folder) { _ in }
    }

    /// Returns the last commit of a journal that is not open, or open in another process; `nil` if none can be read.
    ///
    /// - Parameters:
    ///   - folder: The folder of the segments.
    ///   - epoch: The epoch that the segments must belong to.
    package static func lastCommit(
        in folder: SharedFileDescriptor,
        epoch: Epoch
    ) throws(StatusError) -> (sequence: SequenceNumber, time: Timestamp)? {
        var last: (sequence: SequenceNumber, time: Timestamp)?
        for segment in try index(of: folder.descriptor).segments.reversed() where last == nil {
            try reporting("read", path(first: segment.first)) { () throws(FileSystemError) in
                guard var reader = try reader(of: segment.first, in: folder, epoch: epoch) else { return }
                while case .record(let record, _) = try reader.next() { last = (record.commit.sequence, record.commit.time) }
            }
        }
        return last
    }

    /// The ways out of damage in commits that recovery needs.
    package static let unrecoverableAdvice =
        "Restore the data folder from a backup; or, to continue with the documents in their current state, run hearth check "
        + "--repair --set-aside-journal, which moves the folder \(folderName)/ aside within the data folder."

    static func index(of folder: borrowing FileDescriptor) throws(StatusError) -> JournalIndex {
        try reporting("list", Journal.folderName) { () throws(FileSystemError) in
            var index = JournalIndex()
            var listing = try folder.openForListing()
            while let entry = try listing.next() {
                guard let first = JournalSegment.first(ofName: entry.name) else { continue }
                let size = try folder.status(of: JournalSegment.name(first: first))?.size ?? 0
                index.segments.append(JournalIndex.Segment(first: first, byteCount: size))
            }
            index.segments.sort { $0.first < $1.first }
            return index
        }
    }
}
