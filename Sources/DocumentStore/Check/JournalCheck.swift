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
        for (index, first) in segments.enumerated() {
            let path = Journal.path(first: first)
            if let expected, first != expected {
                let fault = "The commits from \(expected) to before \(first) are missing before this segment."
                add(.damagedJournal(fault, path, isNeeded: isNeeded(before: first)), &log)
            }
            do throws(SystemError) {
                expected = try read(first, following: segments.dropFirst(index + 1).first, in: folder, &log)
            } catch {
                log.add(CheckFinding(error.status("read", path), file: path))
                changes = [:]
                expected = nil
            }
        }
        checkEnds(segments.first, next: expected, &log)
    }

    /// Reads a segment; returns the commit that must follow, or nil when that can't be told.
    ///
    /// - Parameter following: The first commit of the segment behind it; nil when it is the last.
    private mutating func read(
        _ first: SequenceNumber,
        following: SequenceNumber?,
        in folder: borrowing FileDescriptor,
        _ log: inout CheckLog
    ) throws(SystemError) -> SequenceNumber? {
        let path = Journal.path(first: first)
        let file = try folder.openFile(JournalSegment.name(first: first), for: .reading)
        log.report.segments += 1
        log.report.journalBytes += try file.status().size
        let header = JournalSegment.readHeader(try file.read(JournalSegment.headerBytes))
        guard header == .segment(epoch: description.epoch, first: first) else {
            let fault = "The segment's header is damaged, or that of another database or format."
            add(.damagedJournal(fault, path, isNeeded: isNeeded(before: following)), &log)
            return nil
        }
        var reader = JournalSegmentReader(file)
        var expected = first
        while true {
            let offset = reader.offset
            var fault = "The segment is damaged at byte \(offset)."
            switch try reader.next() {
            case .frame(let frame, _) where frame.commit.sequence == expected && isLater(frame.commit):
                note(frame.commit)
                log.report.commits += 1
                log.step()
                expected = expected.next
                continue
            case .frame(let frame, _):
                let (found, time) = (frame.commit.sequence, frame.commit.time)
                fault = "At byte \(offset) commit \(expected) was expected, found \(found) at \(time)."
            case .end, .incomplete, .damaged:
                if try reader.rest(from: offset).lastNonzeroIndex == nil { return expected }
            }
            // A batch that was being written when the machine stopped; nobody was told that it counts.
            let mayBeTorn = following == nil && !description.isClean && expected > description.sequence
            if mayBeTorn, try reader.firstFrame(from: offset, where: { $0.batch > expected }) == nil { return expected }
            let next = try reader.firstFrame(from: offset) { $0.commit.sequence > expected }
            let end = next?.frame.commit.sequence ?? following
            add(.damagedJournal(fault, path, isNeeded: isNeeded(before: end)), &log)
            guard let next else { return nil }
            reader.go(to: next.offset)
            expected = next.frame.commit.sequence
        }
    }

    /// Whether commits are lost that the documents' files may lack.
    ///
    /// - Parameter next: The first commit behind the lost ones; nil when there is none.
    private func isNeeded(before next: SequenceNumber?) -> Bool {
        next.map { $0 > description.sequence.next } ?? false
    }

    /// Reports lost commits. What came before them may not be the last that befell a document.
    private mutating func add(_ finding: CheckFinding, _ log: inout CheckLog) {
        log.add(finding)
        changes = [:]
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
    ///   - next: The commit behind the last; nil when there is none or it can't be told.
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
        if let next, next <= description.sequence {
            log.add(
                .damagedJournal(
                    "The journal ends before commit \(next), and the documents' files are at \(description.sequence).",
                    DataFolder.journalName,
                    isNeeded: false
                )
            )
        }
        if !description.isClean, (first ?? description.sequence.next) > description.sequence.next {
            log.add(
                .damagedJournal(
                    "The commits behind \(description.sequence), whose documents may not be complete, are missing.",
                    DataFolder.journalName,
                    isNeeded: true
                )
            )
        }
    }
}

extension CheckFinding {
    /// An unfinished file.
    static func temporary(_ file: String) -> CheckFinding {
        CheckFinding(.temporary, "An unfinished file was left behind. A repair removes it.", file: file)
    }

    fileprivate static func damagedJournal(_ fault: String, _ file: String, isNeeded: Bool) -> CheckFinding {
        let advice =
            isNeeded
            ? "Restore the data folder from a backup, or, to go on with the documents as they are, move the folder "
                + "\(DataFolder.journalName)/ away."
            : "The documents don't need it, only their history: a repair gives that up as far as it can't be told any more."
        return CheckFinding(.damagedJournal, "\(fault) \(advice)", file: file)
    }
}
