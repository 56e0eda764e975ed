internal import DocumentModel

/// A journal folder that has been read through.
struct OpenedJournal {
    /// The journal.
    let journal: Journal
    /// Writes behind the last commit.
    let writer: JournalWriter
    /// The last commit in the journal, or nil when there is none.
    let last: (sequence: SequenceNumber, time: Timestamp)?
    /// Where the frames of the last segment end.
    let end: Int
    /// How many bytes of a batch that was not acknowledged were cut off the end.
    let cutBytes: Int
}

extension Journal {
    /// How a journal is opened.
    struct Opening {
        /// The history that it must belong to.
        let epoch: Epoch
        /// The last commit whose documents' files are known to be on disk.
        let checkpoint: SequenceNumber
        /// Whether the database was closed after that commit, so that the journal may have been removed.
        let isClean: Bool
        /// The size to which segments are preallocated.
        let segmentBytes: Int
    }

    /// Reads the journal through from the checkpoint on, calls `replay` with each commit behind it, and cuts off a batch that
    /// was being written when the machine stopped.
    ///
    /// When the database was not closed and there is no journal, its last commits are lost, and a new history begins.
    ///
    /// - Throws: `.dataLoss` when a commit behind the checkpoint can't be read although it was on disk once; nothing has been
    ///   changed then.
    static func open(
        _ folder: consuming FileDescriptor,
        _ opening: Opening,
        replay: (Commit) throws(StatusError) -> Void
    ) throws(StatusError) -> OpenedJournal {
        try reporting("remove", "\(DataFolder.journalName)/\(spareName)") { () throws(SystemError) in
            _ = try folder.removeFile(spareName)
        }
        var scan = JournalScan(opening: opening, index: try index(of: folder))
        try scan.run(in: folder, replay: replay)
        if let last = scan.last?.sequence, last < opening.checkpoint {
            // Newer segments have been removed: what is left doesn't connect to the next commit.
            try scan.discardAll(in: folder)
        }
        let isLost = scan.index.segments.isEmpty && !opening.isClean
        return try scan.finish(folder, epoch: isLost ? .random() : opening.epoch)
    }

    private static func index(of folder: borrowing FileDescriptor) throws(StatusError) -> JournalIndex {
        try reporting("list", DataFolder.journalName) { () throws(SystemError) in
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

/// Reads segments one after another and finds where writing goes on.
private struct JournalScan {
    let opening: Journal.Opening
    var index: JournalIndex
    var last: (sequence: SequenceNumber, time: Timestamp)?
    var cutBytes = 0
    /// Where the last segment's frames end.
    var end = JournalSegment.headerBytes

    mutating func run(
        in folder: borrowing FileDescriptor,
        replay: (Commit) throws(StatusError) -> Void
    ) throws(StatusError) {
        let wanted = opening.checkpoint.next
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
        var expected = index.segments[start].first
        for segment in index.segments[start...] {
            guard segment.first == expected else { throw damage(segment: segment.first, offset: 0) }
            let isLast = segment.first == index.segments.last?.first
            if let next = try read(segment, isLast: isLast, in: folder, replay: replay) {
                expected = next
            } else {
                index.segments.removeLast()
            }
        }
    }

    /// Reads one segment; returns the number of the commit behind its last, or nil when its making was never finished.
    private mutating func read(
        _ segment: JournalIndex.Segment,
        isLast: Bool,
        in folder: borrowing FileDescriptor,
        replay: (Commit) throws(StatusError) -> Void
    ) throws(StatusError) -> SequenceNumber? {
        let path = Journal.path(first: segment.first)
        do {
            let file = try folder.openFile(segment.name, for: .reading)
            let header = JournalSegment.readHeader(try file.read(JournalSegment.headerBytes))
            var reader = JournalSegmentReader(file)
            guard try check(header, segment: segment.first) else {
                // The header is on disk before the first frame is written, so nothing was acknowledged from a segment without.
                guard isLast, try !reader.hasFrame(ofBatchFrom: .zero) else { throw damage(segment: segment.first, offset: 0) }
                try folder.removeFile(segment.name)
                return nil
            }
            var expected = segment.first
            while case .frame(let frame, _) = try reader.next(), frame.commit.sequence == expected {
                if expected > opening.checkpoint { try replay(frame.commit) }
                last = (expected, frame.commit.time)
                expected = expected.next
                end = reader.offset
            }
            if expected == segment.first { end = JournalSegment.headerBytes }
            if try isLast && reader.hasFrame(ofBatchFrom: expected.next) { throw damage(segment: segment.first, offset: end) }
            return expected
        } catch let error as SystemError {
            throw error.status("read", path)
        } catch let error as StatusError {
            throw error
        } catch {
            throw StatusError(.internal, "Could not read \(path).", cause: error)
        }
    }

    /// Whether the header is the segment's; false when it is none.
    private func check(_ header: JournalSegment.Header, segment: SequenceNumber) throws(StatusError) -> Bool {
        switch header {
        case .segment(opening.epoch, segment):
            return true
        case .segment(let epoch, _) where epoch != opening.epoch:
            throw StatusError(
                .failedPrecondition,
                "\(Journal.path(first: segment)) belongs to another database or to another history of this one. "
                    + "Move the files that were copied into \(DataFolder.journalName)/ away."
            )
        case .version(let version):
            throw StatusError(
                .failedPrecondition,
                "\(Journal.path(first: segment)) has the format version \(version), and this Hearth reads version "
                    + "\(JournalSegment.version). Use the Hearth that wrote it; after a clean stop of that one, the folder "
                    + "\(DataFolder.journalName)/ can also be moved away, and with it the history of the documents."
            )
        case .segment, .empty, .damaged:
            return false
        }
    }

    private func damage(segment: SequenceNumber, offset: Int) -> StatusError {
        StatusError(
            .dataLoss,
            "\(Journal.path(first: segment)) is damaged at byte \(offset), before commits that are intact. Restore the data folder "
                + "from a backup, or, to go on with the documents as they are, move the folder \(DataFolder.journalName)/ away."
        )
    }

    mutating func discardAll(in folder: borrowing FileDescriptor) throws(StatusError) {
        for segment in index.segments {
            try reporting("remove", Journal.path(first: segment.first)) { () throws(SystemError) in
                _ = try folder.removeFile(segment.name)
            }
        }
        index.segments = []
        last = nil
    }

    consuming func finish(_ folder: consuming FileDescriptor, epoch: Epoch) throws(StatusError) -> OpenedJournal {
        guard let segment = index.segments.last else {
            let journal = journal(folder, epoch)
            return OpenedJournal(journal: journal, writer: JournalWriter(journal), last: last, end: end, cutBytes: 0)
        }
        do throws(SystemError) {
            let file = try folder.openFile(segment.name, for: .updating)
            let rest = try file.read(max(0, segment.byteCount - end), at: end)
            if let dirty = rest.lastNonzeroIndex {
                try file.write([UInt8](repeating: 0, count: dirty + 1), at: end)
                try file.synchronize()
                cutBytes = dirty + 1
            }
            let (end, cutBytes, last) = (end, cutBytes, last)
            let journal = journal(folder, epoch)
            let writer = JournalWriter(
                journal,
                continuing: SharedDescriptor(file),
                first: segment.first,
                end: end,
                allocated: end + rest.count
            )
            return OpenedJournal(journal: journal, writer: writer, last: last, end: end, cutBytes: cutBytes)
        } catch {
            throw error.status("repair the end of", Journal.path(first: segment.first))
        }
    }

    private func journal(_ folder: consuming FileDescriptor, _ epoch: Epoch) -> Journal {
        Journal(folder: folder, index: index, epoch: epoch, segmentBytes: opening.segmentBytes)
    }
}
