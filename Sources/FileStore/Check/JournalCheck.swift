internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO

/// A check of all journal segments, which also collects the last change of each document.
struct JournalCheck {
    /// The last change of a document in the journal.
    struct LastChange {
        /// The commit time.
        let time: Timestamp
        /// The document's update time; nil if it was deleted.
        let updateTime: Timestamp?
        /// The hash of the document's fields.
        let fieldsHash: Int
    }

    /// The last changes of all documents in the journal.
    private(set) var changes: [DocumentPath: LastChange] = [:]
    /// The last commit.
    private(set) var last: (sequence: SequenceNumber, time: Timestamp)?

    private let manifest: DataFolderManifest

    init(_ manifest: DataFolderManifest) {
        self.manifest = manifest
    }

    /// Checks the segments in the journal's folder.
    mutating func run(in folder: borrowing FileDescriptor, _ reporter: inout CheckReporter) throws(StatusError) {
        var segments: [SequenceNumber] = []
        try reporting("list", Journal.folderName) { () throws(FileSystemError) in
            var listing = try folder.openForListing()
            while let entry = try listing.next() {
                if let first = JournalSegment.first(ofName: entry.name) {
                    segments.append(first)
                } else if TemporaryName.matches(entry.name) {
                    reporter.add(.temporary("\(Journal.folderName)/\(entry.text)"))
                }
            }
        }
        segments.sort()
        var expected: SequenceNumber?
        for (index, first) in segments.enumerated() {
            let path = Journal.path(first: first)
            if let expected, first != expected {
                let fault = "Commits \(expected) to \(first.previous) are missing before this segment."
                reportLoss(.damagedJournal(fault, path, isNeeded: isNeeded(before: first)), &reporter)
            }
            do throws(FileSystemError) {
                expected = try read(first, following: segments.dropFirst(index + 1).first, in: folder, &reporter)
            } catch {
                reporter.add(CheckFinding(error.status("read", path), file: path))
                changes = [:]
                expected = nil
            }
        }
        checkEnds(segments.first, next: expected, &reporter)
    }

    /// Checks a segment.
    ///
    /// - Parameter following: The first commit of the next segment; nil if this is the last.
    /// - Returns: The sequence number after the segment's last commit; nil if it is unknown because of damage.
    private mutating func read(
        _ first: SequenceNumber,
        following: SequenceNumber?,
        in folder: borrowing FileDescriptor,
        _ reporter: inout CheckReporter
    ) throws(FileSystemError) -> SequenceNumber? {
        let path = Journal.path(first: first)
        let file = try folder.openFile(JournalSegment.name(first: first), for: .reading)
        reporter.report.segments += 1
        reporter.report.journalBytes += try file.status().size
        let header = JournalSegment.readHeader(try file.read(JournalSegment.headerBytes))
        guard header == .segment(epoch: manifest.epoch, first: first) else {
            let fault = "The segment's header is damaged, or from another database or format version."
            reportLoss(.damagedJournal(fault, path, isNeeded: isNeeded(before: following)), &reporter)
            return nil
        }
        var reader = JournalSegmentReader(file)
        var expected = first
        while true {
            let offset = reader.offset
            var fault = "The segment is damaged at byte \(offset)."
            switch try reader.next() {
            case .record(let record, _) where record.commit.sequence == expected && isLater(record.commit):
                add(record.commit)
                reporter.report.commits += 1
                reporter.advance()
                expected = expected.next
                continue
            case .record(let record, _):
                let (found, time) = (record.commit.sequence, record.commit.time)
                fault = "Expected commit \(expected) at byte \(offset), found commit \(found) from \(time)."
            case .end, .incomplete, .damaged:
                if try reader.rest(from: offset).lastNonzeroIndex == nil { return expected }
            }
            // A torn tail: an unacknowledged batch that was being written at the crash.
            let mayBeTorn = following == nil && !manifest.isClean && expected > manifest.sequence
            if mayBeTorn, try reader.firstRecord(from: offset, where: { $0.batch > expected }) == nil { return expected }
            let next = try reader.firstRecord(from: offset) { $0.commit.sequence > expected }
            let end = next?.record.commit.sequence ?? following
            reportLoss(.damagedJournal(fault, path, isNeeded: isNeeded(before: end)), &reporter)
            guard let next else { return nil }
            reader.seek(to: next.offset)
            expected = next.record.commit.sequence
        }
    }

    /// Returns whether lost commits may not have been applied to the document files.
    ///
    /// - Parameter next: The first commit after the lost ones; nil if there is none.
    private func isNeeded(before next: SequenceNumber?) -> Bool {
        next.map { $0 > manifest.sequence.next } ?? false
    }

    /// Reports lost commits. Changes before them may no longer be the last of their documents.
    private mutating func reportLoss(_ finding: CheckFinding, _ reporter: inout CheckReporter) {
        reporter.add(finding)
        changes = [:]
    }

    private func isLater(_ commit: Commit) -> Bool {
        last.map { $0.time < commit.time } ?? true
    }

    private mutating func add(_ commit: Commit) {
        for change in commit.changes {
            changes[change.path] = LastChange(
                time: commit.time,
                updateTime: change.after?.updateTime,
                fieldsHash: change.after?.fieldsJSON.hashValue ?? 0
            )
        }
        last = (commit.sequence, commit.time)
    }

    /// Compares the ends of the journal with the manifest.
    ///
    /// - Parameters:
    ///   - first: The first commit of the oldest segment; nil if there is none.
    ///   - next: The sequence number after the last commit; nil if there is none or it is unknown.
    private func checkEnds(_ first: SequenceNumber?, next: SequenceNumber?, _ reporter: inout CheckReporter) {
        if !manifest.isClean {
            reporter.add(
                CheckFinding(
                    .notClosed,
                    "The database was not closed. Start the server on it, or repair it, to recover the documents from the journal.",
                    file: DataFolder.manifestName
                )
            )
        }
        if let next, next <= manifest.sequence {
            reporter.add(
                .damagedJournal(
                    "The journal ends at commit \(next.previous), but the document files include commit \(manifest.sequence).",
                    Journal.folderName,
                    isNeeded: false
                )
            )
        }
        if !manifest.isClean, (first ?? manifest.sequence.next) > manifest.sequence.next {
            reporter.add(
                .damagedJournal(
                    "The commits after \(manifest.sequence) are missing. Their documents may be incomplete.",
                    Journal.folderName,
                    isNeeded: true
                )
            )
        }
    }
}

extension CheckFinding {
    /// The finding for a temporary file.
    static func temporary(_ file: String) -> CheckFinding {
        CheckFinding(.temporary, "A temporary file was left behind. A repair removes it.", file: file)
    }

    fileprivate static func damagedJournal(_ fault: String, _ file: String, isNeeded: Bool) -> CheckFinding {
        let advice =
            isNeeded
            ? "Restore the data folder from a backup, or move the folder \(Journal.folderName)/ out of the data folder to "
                + "continue with the documents in their current state."
            : "Only the history is affected, not the documents. A repair removes the unreadable part of the history."
        return CheckFinding(.damagedJournal, "\(fault) \(advice)", file: file)
    }
}
