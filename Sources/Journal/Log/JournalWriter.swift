package import DocumentModel
package import DocumentStore
internal import StorageIO

/// Appends batches of commits to the last segment, each with one sync.
///
/// It cannot be copied: only one writer knows the end of the segment.
package struct JournalWriter: ~Copyable {
    private let journal: Journal
    private var segment: OpenSegment?
    /// The documents whose before-images the segment contains.
    private var documentsWithBeforeImage: Set<DocumentPath> = []
    /// The batch being appended; the next one uses its memory.
    private var batch = EncodedBatch()

    private struct OpenSegment {
        let file: SharedFileDescriptor
        let first: SequenceNumber
        /// The offset of the next record.
        var end: Int
        /// The preallocated size.
        var allocated: Int

        /// Ensures that `byteCount` bytes after the end are preallocated.
        mutating func allocate(_ byteCount: Int, in journal: Journal) throws(StatusError) {
            guard end + byteCount > allocated else { return }
            do throws(FileSystemError) {
                allocated = try journal.preallocator.extend(file.descriptor, from: allocated, atLeast: end + byteCount)
                journal.didResize(first, to: allocated)
            } catch {
                throw error.status("extend", Journal.path(first: first))
            }
        }

        /// Truncates what a failed write may have left after the last record; returns `false` if that fails too.
        mutating func truncate() -> Bool {
            do throws(FileSystemError) {
                try file.descriptor.truncate(to: end)
                try file.descriptor.synchronizeData()
                allocated = end
                return true
            } catch {
                return false
            }
        }
    }

    /// The encoded records of a batch.
    private struct EncodedBatch {
        private(set) var bytes: [UInt8] = []
        /// The offset of each commit's record in ``bytes``.
        private(set) var offsets: [Int] = []

        /// The maximum memory that is kept for the next batch: the records of 500 typical documents fit.
        private static let maximumKeptBytes = 1 << 20
        private static let maximumKeptOffsets = 1 << 10

        /// Encodes commits in place of the last batch; each document's before-image is included once per segment.
        ///
        /// - Parameter documentsWithBeforeImage: The documents whose before-images the segment already contains; those added by
        ///   this batch are inserted.
        mutating func encode(_ commits: [Commit], documentsWithBeforeImage: inout Set<DocumentPath>) {
            removeAll()
            guard let first = commits.first?.sequence else { return }
            for commit in commits {
                offsets.append(bytes.count)
                JournalRecord.append(commit, batch: first, to: &bytes) { path in
                    documentsWithBeforeImage.insert(path).inserted
                }
            }
        }

        /// Removes the records, and keeps the memory unless it is large.
        mutating func removeAll() {
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.maximumKeptBytes)
            offsets.removeAll(keepingCapacity: offsets.capacity <= Self.maximumKeptOffsets)
        }
    }

    /// A batch that could not be written.
    package struct Failure: Error {
        package let status: StatusError
        /// True if the journal contains no part of the batch, so that writing may continue. Otherwise the state on disk is
        /// unknown: a failed sync may have dropped pages, and a second sync would not report that.
        package let isRecoverable: Bool

        package init(status: StatusError, isRecoverable: Bool) {
            (self.status, self.isRecoverable) = (status, isRecoverable)
        }
    }

    /// The location of an appended batch.
    package struct AppendedBatch {
        /// The segment.
        let segment: SequenceNumber
        /// The offset of each commit's record.
        let offsets: [Int]
        /// The end of the last record.
        let end: Int
        /// The time of the sync.
        package let sync: Range<ContinuousClock.Instant>

        /// The size of the records.
        package var byteCount: Int { end - (offsets.first ?? end) }
    }

    /// Creates a writer that starts a new segment.
    init(_ journal: Journal) {
        self.journal = journal
    }

    /// Creates a writer that continues the last segment, whose records end at `end`.
    init(_ journal: Journal, continuing file: SharedFileDescriptor, first: SequenceNumber, end: Int, allocated: Int) {
        self.journal = journal
        segment = OpenSegment(file: file, first: first, end: end, allocated: allocated)
    }

    /// Ensures that a segment exists; a new one begins with `first`. Recovery treats an unclean store without a segment as one that
    /// lost its journal.
    package mutating func prepare(first: SequenceNumber) throws(StatusError) {
        guard segment == nil else { return }
        segment = try newSegment(first: first)
    }

    /// Appends consecutive commits as one batch; they are durable when this returns.
    package mutating func append(_ commits: [Commit]) throws(Failure) -> AppendedBatch {
        defer { batch.removeAll() }
        let first = commits.first?.sequence ?? .zero
        batch.encode(commits, documentsWithBeforeImage: &documentsWithBeforeImage)
        if let end = segment?.end, end > JournalSegment.headerBytes, end + batch.bytes.count > journal.segmentBytes {
            closeSegment()
            documentsWithBeforeImage.removeAll(keepingCapacity: true)
            batch.encode(commits, documentsWithBeforeImage: &documentsWithBeforeImage)
        }
        do throws(Failure) {
            return try appendBatch(first: first)
        } catch {
            // The batch's before-images were not written. Writing the others a second time is harmless.
            documentsWithBeforeImage.removeAll()
            throw error
        }
    }

    private mutating func appendBatch(first: SequenceNumber) throws(Failure) -> AppendedBatch {
        var segment = try segment(withSpaceFor: batch.bytes.count, first: first)
        let name = Journal.path(first: segment.first)
        // Restored only on success: after a failed sync the file must not be used again.
        self.segment = nil
        do throws(FileSystemError) {
            try segment.file.descriptor.write(batch.bytes, at: segment.end)
        } catch {
            let isRecoverable = error.isNoSpace && segment.truncate()
            if isRecoverable { self.segment = segment }
            throw Failure(status: error.status("append to", name), isRecoverable: isRecoverable)
        }
        let syncStart = ContinuousClock.now
        do throws(FileSystemError) {
            try segment.file.descriptor.synchronizeData()
        } catch {
            throw Failure(status: error.status("sync", name), isRecoverable: false)
        }
        let sync = syncStart..<max(syncStart, .now)
        let offsets = batch.offsets.map { $0 + segment.end }
        journal.didAppend(first: first, offsets: offsets, to: segment.first)
        segment.end += batch.bytes.count
        self.segment = segment
        if segment.end > journal.segmentBytes / 2 { journal.preallocator.prepare() }
        return AppendedBatch(segment: segment.first, offsets: offsets, end: segment.end, sync: sync)
    }

    /// Closes the journal for writing and waits for background work to end.
    package mutating func close() {
        closeSegment()
        journal.preallocator.discard()
    }

    /// Truncates the last segment after its last record, so that a closed database takes no more space than it needs.
    private mutating func closeSegment() {
        guard let segment else { return }
        self.segment = nil
        // If this fails the zeros stay, which is harmless.
        if (try? segment.file.descriptor.truncate(to: segment.end)) != nil {
            journal.didResize(segment.first, to: segment.end)
        }
    }

    /// Returns the segment for the next records, preallocated to hold them.
    private mutating func segment(withSpaceFor byteCount: Int, first: SequenceNumber) throws(Failure) -> OpenSegment {
        var segment: OpenSegment
        do throws(StatusError) {
            segment = if let open = self.segment { open } else { try newSegment(first: first) }
        } catch {
            // Only a file without records was affected.
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
