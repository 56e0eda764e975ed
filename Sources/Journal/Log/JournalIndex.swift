package import DocumentStore

/// The journal's segments, with a sparse index of record offsets.
struct JournalIndex {
    /// A segment and the offsets of some of its records.
    struct Segment {
        /// The first commit.
        let first: SequenceNumber
        /// The size on disk.
        var byteCount: Int
        /// Offsets to start reading from, in order, about ``JournalIndex/sampleInterval`` apart.
        fileprivate(set) var offsetSamples: [OffsetSample] = []

        var name: String { JournalSegment.name(first: first) }
    }

    /// The offset of one commit's record.
    struct OffsetSample {
        let sequence: SequenceNumber
        let offset: Int
    }

    /// The minimum distance between two samples, in bytes.
    private static let sampleInterval = 64 << 10

    /// The segments in order; commits are appended to the last.
    var segments: [Segment] = []

    /// The first commit after the last damage; ``SequenceNumber/zero`` when the oldest segment is readable from its first commit.
    var firstReadable = SequenceNumber.zero

    /// The ``SegmentRetention``s that hold, with the last commits that they do not need.
    var retentions: [Int: SequenceNumber] = [:]
    /// The number of the last claim, which none has again.
    var lastRetention = 0

    /// The oldest commit that is retained and readable; `nil` if there is no segment.
    var oldest: SequenceNumber? { segments.first.map { max($0.first, firstReadable) } }

    /// The size of all segments on disk.
    var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }

    /// Returns the segment that contains a commit, and the nearest sample at or before it; `nil` if the commit is not retained.
    func nearestSample(to sequence: SequenceNumber) -> (segment: SequenceNumber, sample: OffsetSample)? {
        guard sequence >= firstReadable, let segment = segments.last(where: { $0.first <= sequence }) else { return nil }
        let start = OffsetSample(sequence: segment.first, offset: JournalSegment.headerBytes)
        return (segment.first, segment.offsetSamples.last { $0.sequence <= sequence } ?? start)
    }

    /// Adds a sample, unless the last one of the segment is less than ``sampleInterval`` before it.
    mutating func addSample(_ sample: OffsetSample, in segment: SequenceNumber) {
        guard let index = segments.lastIndex(where: { $0.first == segment }) else { return }
        let last = segments[index].offsetSamples.last?.offset ?? JournalSegment.headerBytes
        if sample.offset >= last + Self.sampleInterval { segments[index].offsetSamples.append(sample) }
    }
}

/// A byte offset in a journal segment.
package struct JournalLocation: Hashable {
    /// The segment's first commit.
    package let segment: SequenceNumber
    package let offset: Int
}
