internal import DocumentModel

/// Reads the segments of a journal one after another from the checkpoint on, and finds where writing goes on.
struct JournalScan {
    let opening: Journal.Opening
    private(set) var index: JournalIndex
    private(set) var last: (sequence: SequenceNumber, time: Timestamp)?
    /// Damage that cost only commits up to the checkpoint.
    private(set) var damage: JournalPlace?
    /// Where the frames of the segment that was read last end.
    private(set) var end = JournalSegment.headerBytes
    /// The commit behind its last.
    private var expected: SequenceNumber?
    /// A last segment whose making was never finished.
    private var unfinished: JournalIndex.Segment?

    /// The commit behind the checkpoint: from here on none may be missing.
    private var wanted: SequenceNumber { opening.checkpoint.next }

    init(opening: Journal.Opening, index: JournalIndex) {
        self.opening = opening
        self.index = index
    }

    /// Whether the journal goes on where the checkpoint ends.
    var reachesCheckpoint: Bool { expected.map { $0 >= wanted } ?? false }

    /// Reads the segments, and calls `replay` with the commits behind the checkpoint.
    mutating func run(
        in folder: borrowing FileDescriptor,
        replay: (Commit) throws(StatusError) -> Void
    ) throws(StatusError) {
        try leaveOutUnfinished(in: folder)
        guard let oldest = index.segments.first?.first else { return }
        guard oldest <= wanted else {
            throw StatusError(
                .dataLoss,
                "The journal lacks the commits from \(wanted) to before \(oldest), whose documents may not be complete. "
                    + "Put the missing files back into \(DataFolder.journalName)/, or, to go on with the documents as they are, "
                    + "move that folder away."
            )
        }
        let start = index.segments.lastIndex { $0.first <= wanted } ?? 0
        var before: SequenceNumber?
        for segment in index.segments[start...] {
            if let before, segment.first != expected { throw Self.neededDamage(JournalPlace(segment: before, offset: end)) }
            try read(segment, isLast: segment.first == index.segments.last?.first, in: folder, replay: replay)
            before = segment.first
        }
    }

    /// Removes all segments: what is left doesn't connect to the next commit.
    mutating func discardAll(in folder: borrowing FileDescriptor) throws(StatusError) {
        for segment in index.segments { try Self.remove(segment, in: folder) }
        index.segments = []
        last = nil
    }

    private static func remove(
        _ segment: JournalIndex.Segment,
        in folder: borrowing FileDescriptor
    ) throws(StatusError) {
        try reporting("remove", Journal.path(first: segment.first)) { () throws(SystemError) in
            _ = try folder.removeFile(segment.name)
        }
    }

    /// The journal, and what writes on in it: in the last segment when that was ended cleanly by a Hearth that writes the same
    /// format, else in a new one.
    ///
    /// After a crash nothing more is put into the segment, because what a failed sync dropped of it may look as if it were on disk.
    consuming func finish(_ folder: consuming FileDescriptor, epoch: Epoch) throws(StatusError) -> OpenedJournal {
        if let unfinished { try Self.remove(unfinished, in: folder) }
        if let damage {
            index.beginning =
                index.segments.first { $0.first > damage.segment }?.first ?? max(wanted, last?.sequence.next ?? wanted)
        }
        let (last, end, damage) = (last, end, damage)
        guard let segment = index.segments.last, reachesCheckpoint else {
            let journal = journal(folder, epoch)
            return OpenedJournal(
                journal: journal,
                writer: JournalWriter(journal),
                last: last,
                end: end,
                damage: damage,
                cut: nil
            )
        }
        do throws(SystemError) {
            let file = try folder.openFile(segment.name, for: .updating)
            let rest = try file.read(max(0, segment.byteCount - end), at: end)
            let dirty = rest.lastNonzeroIndex.map { $0 + 1 } ?? 0
            let isCurrent = JournalSegment.isCurrent(try file.read(JournalSegment.headerBytes))
            let goesOn = opening.isClean && isCurrent && dirty == 0 && damage?.segment != segment.first
            if !goesOn && !rest.isEmpty {
                try file.truncate(to: end)
                try file.synchronize()
                index.segments[index.segments.count - 1].byteCount = end
            }
            let journal = journal(folder, epoch)
            let writer =
                goesOn
                ? JournalWriter(
                    journal,
                    continuing: SharedDescriptor(file),
                    first: segment.first,
                    end: end,
                    allocated: end + rest.count
                ) : JournalWriter(journal)
            let cut = dirty > 0 ? (place: JournalPlace(segment: segment.first, offset: end), byteCount: dirty) : nil
            return OpenedJournal(journal: journal, writer: writer, last: last, end: end, damage: damage, cut: cut)
        } catch {
            throw error.status("repair the end of", Journal.path(first: segment.first))
        }
    }

    private func journal(_ folder: consuming FileDescriptor, _ epoch: Epoch) -> Journal {
        Journal(folder: folder, index: index, epoch: epoch, segmentBytes: opening.segmentBytes)
    }
}

extension JournalScan {
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
            let start = JournalPlace(segment: segment.first, offset: 0)
            guard try check(header, segment: segment.first) else {
                // Whose frames they are can't be told, so none may be needed.
                guard isLast, opening.isClean, segment.first < wanted,
                    try reader.firstFrame(from: reader.offset, where: { $0.commit.sequence >= wanted }) == nil
                else { throw Self.neededDamage(start) }
                (expected, end, damage) = (segment.first, start.offset, start)
                return
            }
            try readFrames(of: segment, isLast: isLast, &reader, replay: replay)
        } catch let error as SystemError {
            throw error.status("read", Journal.path(first: segment.first))
        } catch let error as StatusError {
            throw error
        } catch {
            throw StatusError(.internal, "Could not read \(Journal.path(first: segment.first)).", cause: error)
        }
    }

    /// Takes no account of a last segment without header and frames: the header is on disk before the first frame is written, so
    /// nothing was acknowledged from it. Writing goes on behind the one before.
    private mutating func leaveOutUnfinished(in folder: borrowing FileDescriptor) throws(StatusError) {
        guard let segment = index.segments.last else { return }
        let isUnfinished = try reporting("read", Journal.path(first: segment.first)) { () throws(SystemError) in
            let file = try folder.openFile(segment.name, for: .reading)
            switch JournalSegment.readHeader(try file.read(JournalSegment.headerBytes)) {
            case .segment, .version: return false
            case .empty, .damaged: break
            }
            return try JournalSegmentReader(file).firstFrame(from: JournalSegment.headerBytes, where: { _ in true }) == nil
        }
        if isUnfinished { unfinished = index.segments.removeLast() }
    }

    private mutating func readFrames(
        of segment: JournalIndex.Segment,
        isLast: Bool,
        _ reader: inout JournalSegmentReader,
        replay: (Commit) throws(StatusError) -> Void
    ) throws {
        var expected = segment.first
        while true {
            let offset = reader.offset
            if case .frame(let frame, _) = try reader.next(), frame.commit.sequence == expected {
                if expected >= wanted { try replay(frame.commit) }
                last = (expected, frame.commit.time)
                expected = expected.next
            } else if expected < wanted,
                let next = try reader.firstFrame(from: offset, where: { $0.commit.sequence > expected }),
                next.frame.commit.sequence <= wanted
            {
                damage = JournalPlace(segment: segment.first, offset: offset)
                reader.go(to: next.offset)
                expected = next.frame.commit.sequence
            } else {
                end = offset
                break
            }
        }
        self.expected = expected
        guard isLast else { return }
        let place = JournalPlace(segment: segment.first, offset: end)
        let unacknowledged = max(expected, wanted)
        if try reader.firstFrame(from: end, where: { $0.batch > unacknowledged }) != nil { throw Self.neededDamage(place) }
        // What ends before the checkpoint was longer once.
        if expected < wanted { damage = place }
    }
}
