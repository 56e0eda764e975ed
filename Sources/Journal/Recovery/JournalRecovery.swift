internal import DocumentModel
internal import DocumentStore
internal import StorageIO

/// A scan of the journal from the checkpoint to its end, which determines where appending continues.
struct JournalRecovery {
    private let options: Journal.RecoveryOptions
    private var index: JournalIndex
    private var last: (sequence: SequenceNumber, time: Timestamp)?
    /// Damage that affects only commits up to the checkpoint.
    private var damage: JournalLocation?
    /// The end of the records in the segment that was read last.
    private var end = JournalSegment.headerBytes
    /// The sequence number after the last commit read.
    private var expected: SequenceNumber?
    /// The last segment, if its creation was interrupted.
    private var unfinished: JournalIndex.Segment?

    /// The first commit after the checkpoint: none may be missing from here on.
    private var firstAfterCheckpoint: SequenceNumber { options.checkpoint.next }

    init(options: Journal.RecoveryOptions, index: JournalIndex) {
        self.options = options
        self.index = index
    }

    /// True if the journal continues where the checkpoint ends.
    var reachesCheckpoint: Bool { expected.map { $0 >= firstAfterCheckpoint } ?? false }

    /// Reads the segments, and calls `replay` with the commits after the checkpoint.
    mutating func run(
        in folder: borrowing FileDescriptor,
        replay: (Commit) throws(StatusError) -> Void
    ) throws(StatusError) {
        try excludeUnfinishedSegment(in: folder)
        guard let oldest = index.segments.first?.first else { return }
        guard oldest <= firstAfterCheckpoint else {
            throw StatusError(
                .dataLoss,
                "Commits \(firstAfterCheckpoint) to \(oldest.previous) are missing from the journal, and their documents may be "
                    + "incomplete. Restore the missing files to \(Journal.folderName)/. \(Journal.unrecoverableAdvice)"
            )
        }
        let start = index.segments.lastIndex { $0.first <= firstAfterCheckpoint } ?? 0
        var before: SequenceNumber?
        for segment in index.segments[start...] {
            if let before, segment.first != expected {
                throw Self.unrecoverableDamage(JournalLocation(segment: before, offset: end))
            }
            try read(segment, isLast: segment.first == index.segments.last?.first, in: folder, replay: replay)
            before = segment.first
        }
    }

    /// Removes all segments, because the next commit does not follow them.
    mutating func discardAll(in folder: borrowing FileDescriptor) throws(StatusError) {
        for segment in index.segments { try Self.remove(segment, in: folder) }
        index.segments = []
        last = nil
    }

    private static func remove(
        _ segment: JournalIndex.Segment,
        in folder: borrowing FileDescriptor
    ) throws(StatusError) {
        try reporting("remove", Journal.path(first: segment.first)) { () throws(FileSystemError) in
            _ = try folder.removeFile(segment.name)
        }
    }

    /// Truncates the torn tail, and returns the journal with its writer.
    ///
    /// The writer continues the last segment if it was closed cleanly in the current format version, and otherwise starts a new
    /// one: after a crash, pages that a failed sync dropped may still read back as if they were on disk.
    consuming func finish(_ folder: consuming FileDescriptor, epoch: Epoch) throws(StatusError) -> RecoveredJournal {
        if let unfinished { try Self.remove(unfinished, in: folder) }
        if let damage {
            index.firstReadable =
                index.segments.first { $0.first > damage.segment }?.first
                ?? max(firstAfterCheckpoint, last?.sequence.next ?? firstAfterCheckpoint)
        }
        let (last, end, damage) = (last, end, damage)
        guard let segment = index.segments.last, reachesCheckpoint else {
            let journal = journal(folder, epoch)
            return RecoveredJournal(
                journal: journal,
                writer: JournalWriter(journal),
                last: last,
                end: end,
                damage: damage,
                truncatedTail: nil
            )
        }
        do throws(FileSystemError) {
            let file = try folder.openFile(segment.name, for: .updating)
            let rest = try file.read(max(0, segment.byteCount - end), at: end)
            let tornBytes = rest.lastNonzeroIndex.map { $0 + 1 } ?? 0
            let isCurrent = JournalSegment.isCurrent(try file.read(JournalSegment.headerBytes))
            let isContinued = options.isClean && isCurrent && tornBytes == 0 && damage?.segment != segment.first
            if !isContinued && !rest.isEmpty {
                try file.truncate(to: end)
                try file.synchronize()
                index.segments[index.segments.count - 1].byteCount = end
            }
            let journal = journal(folder, epoch)
            let writer =
                isContinued
                ? JournalWriter(
                    journal,
                    continuing: SharedFileDescriptor(file),
                    first: segment.first,
                    end: end,
                    allocated: end + rest.count
                ) : JournalWriter(journal)
            let location = JournalLocation(segment: segment.first, offset: end)
            return RecoveredJournal(
                journal: journal,
                writer: writer,
                last: last,
                end: end,
                damage: damage,
                truncatedTail: tornBytes > 0 ? (location, tornBytes) : nil
            )
        } catch {
            throw error.status("truncate", Journal.path(first: segment.first))
        }
    }

    private func journal(_ folder: consuming FileDescriptor, _ epoch: Epoch) -> Journal {
        Journal(folder: folder, index: index, epoch: epoch, segmentBytes: options.segmentBytes)
    }
}

extension JournalRecovery {
    private mutating func read(
        _ segment: JournalIndex.Segment,
        isLast: Bool,
        in folder: borrowing FileDescriptor,
        replay: (Commit) throws(StatusError) -> Void
    ) throws(StatusError) {
        do {
            let file = try folder.openFile(segment.name, for: .reading)
            let header = JournalSegment.readHeader(try file.read(JournalSegment.headerBytes))
            var reader = JournalSegmentReader(file)
            let start = JournalLocation(segment: segment.first, offset: 0)
            guard try isValid(header, of: segment.first) else {
                // The records' epoch is unknown, so recovery must not need any of them.
                guard isLast, options.isClean, segment.first < firstAfterCheckpoint,
                    try reader.firstRecord(from: reader.offset, where: { $0.commit.sequence >= firstAfterCheckpoint }) == nil
                else { throw Self.unrecoverableDamage(start) }
                (expected, end, damage) = (segment.first, start.offset, start)
                return
            }
            try readRecords(of: segment, isLast: isLast, &reader, replay: replay)
        } catch let error as FileSystemError {
            throw error.status("read", Journal.path(first: segment.first))
        } catch let error as StatusError {
            throw error
        } catch {
            throw StatusError(.internal, "Could not read \(Journal.path(first: segment.first)).", cause: error)
        }
    }

    /// Excludes the last segment if it has neither a valid header nor records. The header is synced before the first record is
    /// written, so no commit in it was acknowledged. Appending continues after the previous segment.
    private mutating func excludeUnfinishedSegment(in folder: borrowing FileDescriptor) throws(StatusError) {
        guard let segment = index.segments.last else { return }
        let isUnfinished = try reporting("read", Journal.path(first: segment.first)) { () throws(FileSystemError) in
            let file = try folder.openFile(segment.name, for: .reading)
            switch JournalSegment.readHeader(try file.read(JournalSegment.headerBytes)) {
            case .segment, .unsupportedVersion: return false
            case .empty, .damaged: break
            }
            return try JournalSegmentReader(file).firstRecord(from: JournalSegment.headerBytes, where: { _ in true }) == nil
        }
        if isUnfinished { unfinished = index.segments.removeLast() }
    }

    private mutating func readRecords(
        of segment: JournalIndex.Segment,
        isLast: Bool,
        _ reader: inout JournalSegmentReader,
        replay: (Commit) throws(StatusError) -> Void
    ) throws {
        var expected = segment.first
        while true {
            let offset = reader.offset
            if case .record(let record, _) = try reader.next(), record.commit.sequence == expected {
                if expected >= firstAfterCheckpoint { try replay(record.commit) }
                last = (expected, record.commit.time)
                expected = expected.next
            } else if expected < firstAfterCheckpoint,
                let next = try reader.firstRecord(from: offset, where: { $0.commit.sequence > expected }),
                next.record.commit.sequence <= firstAfterCheckpoint
            {
                damage = JournalLocation(segment: segment.first, offset: offset)
                reader.seek(to: next.offset)
                expected = next.record.commit.sequence
            } else {
                end = offset
                break
            }
        }
        self.expected = expected
        guard isLast else { return }
        let location = JournalLocation(segment: segment.first, offset: end)
        // A record of a later batch proves that the records before it were acknowledged.
        let unacknowledged = max(expected, firstAfterCheckpoint)
        if try reader.firstRecord(from: end, where: { $0.batch > unacknowledged }) != nil {
            throw Self.unrecoverableDamage(location)
        }
        // A journal that ends before the checkpoint has lost records.
        if expected < firstAfterCheckpoint { damage = location }
    }

    /// Returns whether a header is valid for a segment of this journal.
    ///
    /// - Throws: `.failedPrecondition` when it belongs to another history or format version.
    private func isValid(_ header: JournalSegment.Header, of segment: SequenceNumber) throws(StatusError) -> Bool {
        switch header {
        case .segment(options.epoch, segment):
            return true
        case .segment(let epoch, _) where epoch != options.epoch:
            throw StatusError(
                .failedPrecondition,
                "\(Journal.path(first: segment)) belongs to a different database or to a different history of this one. "
                    + "Move the files that were copied into \(Journal.folderName)/ elsewhere."
            )
        case .unsupportedVersion(let version):
            throw StatusError(
                .failedPrecondition,
                "\(Journal.path(first: segment)) has format version \(version); this version of Hearth reads "
                    + "versions \(JournalSegment.oldestVersion) to \(JournalSegment.version). Use the version of Hearth that "
                    + "wrote it. After that version has shut down cleanly, the folder \(Journal.folderName)/ can also be moved "
                    + "out of the data folder, which discards the document history."
            )
        case .segment, .empty, .damaged:
            return false
        }
    }

    private static func unrecoverableDamage(_ location: JournalLocation) -> StatusError {
        StatusError(
            .dataLoss,
            "\(Journal.path(first: location.segment)) is damaged at byte \(location.offset), in commits whose documents may be "
                + "incomplete. \(Journal.unrecoverableAdvice)"
        )
    }
}
