internal import DocumentModel

/// Reads all segments of a journal, and keeps what it says last of each document.
struct JournalCheck {
    /// What the last kept commit that changed a document made of it.
    struct LastChange {
        /// When.
        let time: Timestamp
        /// The document's update time; nil when it was deleted.
        let updateTime: Timestamp?
        /// A hash of its fields.
        let fields: Int
    }

    /// The documents that the kept commits changed.
    private(set) var changes: [DocumentPath: LastChange] = [:]
    /// The last commit.
    private(set) var last: (sequence: SequenceNumber, time: Timestamp)?

    private let description: DatabaseDescription

    init(_ description: DatabaseDescription) {
        self.description = description
    }

    /// Reads the segments in the journal's folder.
    mutating func run(in folder: borrowing FileDescriptor, _ log: inout CheckLog) throws(StatusError) {
        var segments: [SequenceNumber] = []
        try reporting("list", DataFolder.journalName) { () throws(SystemError) in
            var listing = try folder.openForListing()
            while let entry = try listing.next() {
                if let first = JournalSegment.first(ofName: entry.name) {
                    segments.append(first)
                } else if TemporaryName.matches(entry.name) {
                    log.add(.temporary("\(DataFolder.journalName)/\(entry.text)"))
                }
            }
        }
        segments.sort()
        var expected: SequenceNumber?
        for first in segments {
            let path = Journal.path(first: first)
            if let expected, first != expected {
                log.add(.damagedJournal("The commits from \(expected) to before \(first) are missing before this segment.", path))
            }
            do throws(SystemError) {
                expected = try read(first, isLast: first == segments.last, in: folder, &log)
            } catch {
                log.add(CheckFinding(error.status("read", path), file: path))
                expected = nil
            }
        }
        checkEnds(segments.first, next: expected ?? last?.sequence.next, &log)
    }

    /// Reads a segment; returns the commit that must follow.
    private mutating func read(
        _ first: SequenceNumber,
        isLast: Bool,
        in folder: borrowing FileDescriptor,
        _ log: inout CheckLog
    ) throws(SystemError) -> SequenceNumber? {
        let path = Journal.path(first: first)
        let file = try folder.openFile(JournalSegment.name(first: first), for: .reading)
        log.report.segments += 1
        log.report.journalBytes += try file.status().size
        let header = JournalSegment.readHeader(try file.read(JournalSegment.headerBytes))
        guard header == .segment(epoch: description.epoch, first: first) else {
            log.add(.damagedJournal("The segment's header is damaged, or that of another database or format.", path))
            return nil
        }
        var reader = JournalSegmentReader(file)
        var expected = first
        while true {
            let offset = reader.offset
            switch try reader.next() {
            case .frame(let frame, _) where frame.commit.sequence == expected && isLater(frame.commit):
                note(frame.commit)
                log.report.commits += 1
                log.step()
                expected = expected.next
            case .frame(let frame, _):
                let commit = frame.commit
                log.add(
                    .damagedJournal(
                        "At byte \(offset) commit \(expected) was expected, found \(commit.sequence) at \(commit.time).",
                        path
                    )
                )
                return nil
            case .end, .incomplete, .damaged:
                guard try reader.rest().lastNonzeroIndex != nil else { return expected }
                // A batch that was being written when the machine stopped; nobody was told that it counts.
                let mayBeTorn = isLast && !description.isClean
                if mayBeTorn, try !reader.hasFrame(ofBatchFrom: expected.next) { return expected }
                log.add(.damagedJournal("The segment is damaged at byte \(offset).", path))
                return nil
            }
        }
    }

    private func isLater(_ commit: Commit) -> Bool {
        last.map { $0.time < commit.time } ?? true
    }

    private mutating func note(_ commit: Commit) {
        for change in commit.changes {
            changes[change.path] = LastChange(
                time: commit.time,
                updateTime: change.after?.updateTime,
                fields: change.after?.fieldsJSON.hashValue ?? 0
            )
        }
        last = (commit.sequence, commit.time)
    }

    /// Compares what the journal has with what the data folder says of it.
    ///
    /// - Parameters:
    ///   - first: The first commit of the oldest segment; nil when there is none.
    ///   - next: The commit behind the last that could be read; nil when there is none.
    private func checkEnds(_ first: SequenceNumber?, next: SequenceNumber?, _ log: inout CheckLog) {
        if !description.isClean {
            log.add(
                CheckFinding(
                    .notClosed,
                    "The database was not closed. Start the server on it, or repair it: that brings the documents' files to where "
                        + "the journal says they were.",
                    file: DataFolder.descriptionName
                )
            )
        }
        if let next = next ?? first, next <= description.sequence {
            log.add(
                .damagedJournal(
                    "The journal ends before commit \(next), and the documents' files are at \(description.sequence).",
                    DataFolder.journalName
                )
            )
        }
        if !description.isClean, (first ?? description.sequence.next) > description.sequence.next {
            log.add(
                .damagedJournal(
                    "The commits behind \(description.sequence), whose documents may not be complete, are missing.",
                    DataFolder.journalName
                )
            )
        }
    }
}

extension CheckFinding {
    /// An unfinished file.
    static func temporary(_ file: String) -> CheckFinding {
        CheckFinding(.temporary, "An unfinished file was left behind by a crash. A repair removes it.", file: file)
    }

    fileprivate static func damagedJournal(_ fault: String, _ file: String) -> CheckFinding {
        CheckFinding(
            .damagedJournal,
            "\(fault) Restore the data folder from a backup, or, to go on with the documents as they are, move the folder "
                + "\(DataFolder.journalName)/ away.",
            file: file
        )
    }
}
