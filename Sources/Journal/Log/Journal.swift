package import DocumentModel
package import DocumentStore
internal import StorageIO
internal import Synchronization

/// The write-ahead log: the segments in the folder ``folderName``.
///
/// Commits are appended by ``JournalWriter`` and read back by any thread.
package final class Journal: Sendable {
    /// The preallocated size of a segment, unless the disk is nearly full.
    let segmentBytes: Int
    /// The epoch of the history that the segments contain.
    package let epoch: Epoch
    /// Creates and extends the segments' files.
    let preallocator: SegmentPreallocator

    let folder: SharedFileDescriptor
    private let index: Mutex<JournalIndex>

    /// Creates the journal for a folder with the segments in `index`.
    init(folder: consuming FileDescriptor, index: JournalIndex, epoch: Epoch, segmentBytes: Int) {
        self.folder = SharedFileDescriptor(folder)
        self.index = Mutex(index)
        self.epoch = epoch
        self.segmentBytes = segmentBytes
        preallocator = SegmentPreallocator(folder: self.folder, segmentBytes: segmentBytes)
    }

    /// The name of the segments' folder in the data folder.
    package static let folderName = "journal"

    /// Returns a segment's path, relative to the data folder.
    package static func path(first: SequenceNumber) -> String {
        "\(folderName)/\(JournalSegment.name(first: first))"
    }

    /// The oldest commit that is retained; `nil` if there is no segment.
    package var oldest: SequenceNumber? {
        index.withLock { $0.oldest }
    }

    /// The size of all segments.
    package var byteCount: Int {
        index.withLock { $0.byteCount }
    }

    /// The first commits of the retained segments, in order.
    package var segments: [SequenceNumber] {
        index.withLock { index in index.segments.map(\.first).filter { $0 >= index.firstReadable } }
    }

    /// Returns the first commit of the segment after `segment`; `nil` if that is the last.
    func segment(after segment: SequenceNumber) -> SequenceNumber? {
        index.withLock { $0.segments.first { $0.first > segment }?.first }
    }

    /// Reads or changes the index of segments under its lock.
    func withIndex<Result>(_ body: (inout JournalIndex) -> Result) -> Result {
        index.withLock { body(&$0) }
    }
}

// MARK: - Appending

extension Journal {
    /// Creates the segment whose first commit is `first`; its name and header are durable when this returns.
    func makeSegment(first: SequenceNumber) throws(StatusError) -> SegmentPreallocator.File {
        let name = JournalSegment.name(first: first)
        do throws(FileSystemError) {
            let file = try preallocator.obtainFile()
            let descriptor = file.descriptor
            try descriptor.descriptor.write(JournalSegment.header(epoch: epoch, first: first))
            try descriptor.descriptor.synchronizeData()
            try folder.descriptor.rename(SegmentPreallocator.fileName, to: name)
            try folder.descriptor.synchronize()
            index.withLock { index in
                // The rename replaced an empty segment that recovery may have left.
                index.segments.removeAll { $0.first == first }
                index.segments.append(JournalIndex.Segment(first: first, byteCount: file.byteCount))
            }
            return file
        } catch {
            preallocator.removeFile()
            throw error.status("create", Self.path(first: first))
        }
    }

    /// Records the offsets of appended commits.
    func didAppend(first: SequenceNumber, offsets: [Int], to segment: SequenceNumber) {
        index.withLock { index in
            var sequence = first
            for offset in offsets {
                index.addSample(JournalIndex.OffsetSample(sequence: sequence, offset: offset), in: segment)
                sequence = sequence.next
            }
        }
    }

    /// Records a segment's new size on disk.
    func didResize(_ segment: SequenceNumber, to byteCount: Int) {
        index.withLock { index in
            guard let position = index.segments.lastIndex(where: { $0.first == segment }) else { return }
            index.segments[position].byteCount = byteCount
        }
    }
}

// MARK: - Reading

extension Journal {
    /// Opens a segment for reading, at its first record or at the record at `offset`; `nil` if the segment is no longer retained.
    func reader(
        of segment: SequenceNumber,
        from offset: Int = JournalSegment.headerBytes,
        windowBytes: Int
    ) throws(StatusError) -> JournalSegmentReader? {
        do throws(FileSystemError) {
            let file = try folder.descriptor.openFile(JournalSegment.name(first: segment), for: .reading)
            return JournalSegmentReader(file, from: offset, windowBytes: windowBytes)
        } catch {
            if error.isNotFound { return nil }
            throw error.status("read", Self.path(first: segment))
        }
    }

    /// The maximum size of the records that ``commits(after:through:)`` returns, unless a single record is larger.
    private static let pageBytes = 1 << 20

    /// Returns a page of the commits after `sequence` up to `last`: at least one, and from one segment only.
    ///
    /// - Throws: `.outOfRange` when the commit after `sequence` is no longer retained or not readable.
    package func commits(after sequence: SequenceNumber, through last: SequenceNumber) throws(StatusError) -> [Commit] {
        let wanted = sequence.next
        guard let (segment, sample) = withIndex({ $0.nearestSample(to: wanted) }) else { throw Self.notRetained(sequence) }
        var commits: [Commit] = []
        do throws(FileSystemError) {
            let file = try folder.descriptor.openFile(JournalSegment.name(first: segment), for: .reading)
            var reader = JournalSegmentReader(file, from: sample.offset)
            var expected = sample.sequence
            while expected <= last, reader.offset < sample.offset + Self.pageBytes || commits.isEmpty {
                guard case .record(let record, _) = try reader.next(), record.commit.sequence == expected else { break }
                if expected >= wanted { commits.append(record.commit) }
                withIndex {
                    $0.addSample(JournalIndex.OffsetSample(sequence: expected.next, offset: reader.offset), in: segment)
                }
                expected = expected.next
            }
        } catch {
            // The segment may have been removed since the lookup.
            if error.isNotFound { throw Self.notRetained(sequence) }
            throw error.status("read", Self.path(first: segment))
        }
        guard !commits.isEmpty else {
            throw StatusError(
                .outOfRange,
                "Commit \(wanted) cannot be read: \(Self.path(first: segment)) in the data folder is damaged. Documents are "
                    + "unaffected. Start a new watch."
            )
        }
        return commits
    }

    private static func notRetained(_ sequence: SequenceNumber) -> StatusError {
        StatusError(
            .outOfRange,
            "The commits after \(sequence) are no longer retained. Read the documents again and watch from there."
        )
    }
}
