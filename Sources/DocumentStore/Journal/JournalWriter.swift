internal import DocumentModel

/// Appends batches of commits to the journal's last segment, and syncs each.
///
/// Only the committer has one. Segments are preallocated and zeroed: syncing such a file costs half of what it costs while
/// the file grows.
struct JournalWriter {
    private let journal: Journal
    private var segment: OpenSegment?
    /// The hashes of the documents that the segment carries as they were before their first change in it.
    private var carried: Set<Int> = []

    private struct OpenSegment {
        let file: SharedDescriptor
        let first: SequenceNumber
        /// Where the next frame goes.
        var end: Int
        /// How far the file is filled with zeros.
        var allocated: Int

        /// Makes sure that so many bytes behind the end are filled.
        mutating func allocate(_ byteCount: Int, in journal: Journal) throws(StatusError) {
            guard end + byteCount > allocated else { return }
            do throws(SystemError) {
                allocated = try journal.fill(file.descriptor, from: allocated, atLeast: end + byteCount)
                journal.cut(segment: first, to: allocated)
            } catch {
                throw error.status("extend", Journal.path(first: first))
            }
        }

        /// Removes what a failed write may have left behind the last frame; false when that fails too.
        mutating func cut() -> Bool {
            do throws(SystemError) {
                try file.descriptor.truncate(to: end)
                try file.descriptor.synchronizeData()
                allocated = end
                return true
            } catch {
                return false
            }
        }
    }

    /// A batch that could not be written.
    struct Failure: Error {
        let status: StatusError
        /// Whether nothing of the batch is in the journal, so that writing may go on. Otherwise what is on disk is unknown:
        /// a failed sync may have dropped pages, and a second one would not tell.
        let isRecoverable: Bool
    }

    /// A writer that begins a new segment.
    init(_ journal: Journal) {
        self.journal = journal
    }

    /// A writer that goes on in the last segment, whose frames end at `end`.
    init(_ journal: Journal, continuing file: SharedDescriptor, first: SequenceNumber, end: Int, allocated: Int) {
        self.journal = journal
        segment = OpenSegment(file: file, first: first, end: end, allocated: allocated)
    }

    /// Where commits have been written.
    struct Place {
        /// The segment.
        let segment: SequenceNumber
        /// Where in it each commit's frame begins.
        let offsets: [Int]
        /// Where the last one ends.
        let end: Int

        /// How many bytes they take.
        var byteCount: Int { end - (offsets.first ?? end) }
    }

    /// Makes sure that there is a segment to write to, a new one beginning with `first` where there is none. While there is one,
    /// the journal is not taken for lost.
    mutating func prepare(first: SequenceNumber) throws(StatusError) {
        guard segment == nil else { return }
        segment = try newSegment(first: first)
    }

    /// Appends commits that follow each other and returns when they are on disk.
    mutating func append(_ commits: [Commit]) throws(Failure) -> Place {
        let first = commits.first?.sequence ?? .zero
        var batch = JournalBatch(commits, carried: &carried)
        if let end = segment?.end, end > JournalSegment.headerBytes, end + batch.bytes.count > journal.segmentBytes {
            finish()
            carried.removeAll(keepingCapacity: true)
            batch = JournalBatch(commits, carried: &carried)
        }
        do throws(Failure) {
            return try append(batch, first: first)
        } catch {
            // What the batch was to carry is not there. What was carried before is carried again, which does no harm.
            carried.removeAll()
            throw error
        }
    }

    private mutating func append(_ batch: JournalBatch, first: SequenceNumber) throws(Failure) -> Place {
        var segment = try room(for: batch.bytes.count, first: first)
        let name = Journal.path(first: segment.first)
        // Given back only when all is well: after a failed sync the file is not to be touched again.
        self.segment = nil
        do throws(SystemError) {
            try segment.file.descriptor.write(batch.bytes, at: segment.end)
        } catch {
            let isRecoverable = error.isNoSpace && segment.cut()
            if isRecoverable { self.segment = segment }
            throw Failure(status: error.status("append to", name), isRecoverable: isRecoverable)
        }
        do throws(SystemError) {
            try segment.file.descriptor.synchronizeData()
        } catch {
            throw Failure(status: error.status("sync", name), isRecoverable: false)
        }
        let offsets = batch.starts.map { $0 + segment.end }
        journal.wrote(first: first, starts: offsets, segment: segment.first)
        segment.end += batch.bytes.count
        self.segment = segment
        if segment.end > journal.segmentBytes / 2 { journal.prepareSpare() }
        return Place(segment: segment.first, offsets: offsets, end: segment.end)
    }

    /// Ends writing for good: nothing goes on in the background afterwards.
    mutating func close() {
        finish()
        journal.discardSpare()
    }

    /// Cuts the last segment off behind its last frame, so that a stopped database takes no more room than it needs.
    private mutating func finish() {
        guard let segment else { return }
        self.segment = nil
        // When this fails the zeros stay, which does no harm.
        if (try? segment.file.descriptor.truncate(to: segment.end)) != nil {
            journal.cut(segment: segment.first, to: segment.end)
        }
    }

    /// The segment for the next frames, filled with zeros where they go.
    private mutating func room(for byteCount: Int, first: SequenceNumber) throws(Failure) -> OpenSegment {
        var segment: OpenSegment
        do throws(StatusError) {
            segment = if let open = self.segment { open } else { try newSegment(first: first) }
        } catch {
            // Whatever happened, it happened to a file that has no frames.
            throw Failure(status: error, isRecoverable: true)
        }
        self.segment = segment
        do throws(StatusError) {
            try segment.allocate(byteCount, in: journal)
        } catch {
            throw Failure(status: error, isRecoverable: error.code == .resourceExhausted)
        }
        return segment
    }

    private func newSegment(first: SequenceNumber) throws(StatusError) -> OpenSegment {
        let file = try journal.makeSegment(first: first)
        return OpenSegment(
            file: file.descriptor,
            first: first,
            end: JournalSegment.headerBytes,
            allocated: file.byteCount
        )
    }
}
