internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO

extension Journal.RecoveryOptions {
    /// Creates the options for the state of a data folder, to check its journal.
    init(_ manifest: DataFolderManifest) {
        self.init(epoch: manifest.epoch, checkpoint: manifest.sequence, isClean: manifest.isClean, segmentBytes: 0)
    }
}

/// A check of all journal segments, which also collects the last change to each document.
struct JournalCheck {
    /// The last changes to all documents in the journal, since the last repair.
    private(set) var changes: JournalChanges
    /// The last commit.
    private(set) var last: (sequence: SequenceNumber, time: Timestamp)?

    /// True if recovery cannot read commits that it needs, so that the database does not open.
    private(set) var preventsRecovery = false
    /// The end of the intact records before a torn tail, with the segment's path; `nil` without a torn tail.
    private(set) var tornTail: (path: String, offset: Int)?

    private let manifest: DataFolderManifest

    /// - Parameter documentCount: The expected number of documents; `nil` if it is unknown.
    init(_ manifest: DataFolderManifest, documentCount: Int?) {
        self.manifest = manifest
        // A damaged index may have any number.
        changes = JournalChanges(expecting: min(max(documentCount ?? 0, 0), 1 << 22))
    }

    /// Returns whether recovery brings a document to its state after a change.
    func isRecoverable(_ change: JournalChanges.Change) -> Bool {
        !manifest.isClean && change.sequence > manifest.sequence && !preventsRecovery
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
                } else if entry.text != DiskReserve.fileName {
                    reporter.add(.ignored("\(Journal.folderName)/\(entry.text)", "It is not a segment of the journal."))
                }
            }
        }
        segments.sort()
        var expected: SequenceNumber?
        for (index, first) in segments.enumerated() {
            let path = Journal.path(first: first)
            if let expected, first != expected {
                let fault = "Commits \(expected) to \(first.previous) are missing before this segment."
                reportLoss(fault, path, isNeeded: isNeeded(before: first), &reporter)
            }
            do throws(FileSystemError) {
                expected = try read(first, following: segments.dropFirst(index + 1).first, in: folder, &reporter)
            } catch {
                reporter.add(CheckFinding(error.status("read", path), file: path))
                changes.removeAll()
                expected = nil
            }
        }
        if segments.isEmpty { reportMissingHistory(&reporter) }
        checkEnds(segments.first, next: expected, &reporter)
        try checkRecovery(in: folder, &reporter)
    }

    /// Checks that the database can be opened.
    private mutating func checkRecovery(
        in folder: borrowing FileDescriptor,
        _ reporter: inout CheckReporter
    ) throws(StatusError) {
        do throws(StatusError) {
            try Journal.checkIsRecoverable(folder, Journal.RecoveryOptions(manifest))
        } catch {
            // A segment that cannot be read, or is foreign, has been reported.
            guard error.code == .dataLoss else { return }
            if !preventsRecovery { reporter.add(CheckFinding(.damagedJournal, error.message, file: Journal.folderName)) }
            preventsRecovery = true
        }
    }

    /// Checks a segment.
    ///
    /// - Parameter following: The first commit of the next segment; `nil` if this is the last.
    /// - Returns: The sequence number after the segment's last commit; `nil` if it is unknown because of damage.
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
            reportLoss(fault, path, isNeeded: isNeeded(before: following), &reporter)
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
            if mayBeTorn, try reader.firstRecord(from: offset, where: { $0.batch > expected }) == nil {
                tornTail = (path, offset)
                return expected
            }
            let next = try reader.firstRecord(from: offset) { $0.commit.sequence > expected }
            let end = next?.record.commit.sequence ?? following
            reportLoss(fault, path, isNeeded: isNeeded(before: end), &reporter)
            guard let next else { return nil }
            reader.seek(to: next.offset)
            expected = next.record.commit.sequence
        }
    }

    /// Returns whether lost commits may not have been applied to the document files.
    ///
    /// - Parameter next: The first commit after the lost ones; `nil` if there is none.
    private func isNeeded(before next: SequenceNumber?) -> Bool {
        next.map { $0 > manifest.sequence.next } ?? false
    }

    /// Reports lost commits. Changes before them may no longer be the last changes to their documents.
    private mutating func reportLoss(_ fault: String, _ path: String, isNeeded: Bool, _ reporter: inout CheckReporter) {
        reporter.add(.damagedJournal(fault, path, isNeeded: isNeeded))
        if isNeeded { preventsRecovery = true }
        changes.removeAll()
    }

    /// Reports that no commit is in the journal of a database that was closed, unless a repair has accepted that.
    func reportMissingHistory(_ reporter: inout CheckReporter) {
        guard manifest.isClean, manifest.sequence > .zero, manifest.acceptedSequence != manifest.sequence else { return }
        reporter.add(
            CheckFinding(
                .missingHistory,
                "The journal has no segments, although the last commit is \(manifest.sequence): the history is gone, and the "
                    + "documents cannot be compared with their commits. They and the index are complete without it.",
                file: Journal.folderName
            )
        )
    }

    private func isLater(_ commit: Commit) -> Bool {
        last.map { $0.time < commit.time } ?? true
    }

    private mutating func add(_ commit: Commit) {
        last = (commit.sequence, commit.time)
        if let accepted = manifest.acceptedSequence, commit.sequence <= accepted { return }
        for change in commit.changes {
            changes.set(change.path, commit.sequence, commit.time, after: change.after)
        }
    }

    /// Compares the ends of the journal with the manifest.
    ///
    /// - Parameters:
    ///   - first: The first commit of the oldest segment; `nil` if there is none.
    ///   - next: The sequence number after the last commit; `nil` if there is none or it is unknown.
    private mutating func checkEnds(
        _ first: SequenceNumber?,
        next: SequenceNumber?,
        _ reporter: inout CheckReporter
    ) {
        if let next, next <= manifest.sequence {
            var fault = "The journal ends at commit \(next.previous), but the document files include commit \(manifest.sequence)."
            if !manifest.isClean { fault += " Later commits may be lost: the next startup begins a new history." }
            reporter.add(.damagedJournal(fault, Journal.folderName, isNeeded: false))
        }
        if let first, first > manifest.sequence.next {
            preventsRecovery = true
            let fault = "The commits after \(manifest.sequence) are missing. Their documents may be incomplete."
            reporter.add(.damagedJournal(fault, Journal.folderName, isNeeded: true))
        }
    }
}

extension CheckFinding {
    /// The finding for a temporary file.
    static func temporary(_ file: String) -> CheckFinding {
        CheckFinding(.temporary, "A temporary file was left behind. A repair removes it.", file: file)
    }

    /// The notice about an ignored file or folder.
    static func ignored(_ file: String, _ description: String) -> CheckFinding {
        CheckFinding(.ignored, "\(description) Hearth ignores it.", file: file)
    }

    /// The finding for lost commits.
    ///
    /// - Parameter isNeeded: Whether recovery needs them.
    static func damagedJournal(_ fault: String, _ file: String, isNeeded: Bool) -> CheckFinding {
        let advice =
            isNeeded
            ? Journal.unrecoverableAdvice
            : "Only the history is affected, not the documents. A repair moves the unreadable part of the history aside."
        return CheckFinding(.damagedJournal, "\(fault) \(advice)", file: file)
    }
}
