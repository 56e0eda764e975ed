/// Where in the journal which commits are.
struct JournalIndex {
    /// A segment, and where some of its commits begin.
    struct Segment {
        let first: SequenceNumber
        /// How many bytes it takes on disk.
        var byteCount: Int
        /// Places to begin reading at, in order, never far from each other.
        fileprivate(set) var marks: [Place] = []

        var name: String { JournalSegment.name(first: first) }
    }

    /// Where a commit's frame begins.
    struct Place {
        let sequence: SequenceNumber
        let offset: Int
    }

    /// How far apart marks are.
    private static let markDistance = 64 << 10

    /// The segments in order; commits are written to the last.
    var segments: [Segment] = []

    /// From which commit on all can be read, where that is not the first of the oldest segment: behind a damage.
    var beginning = SequenceNumber.zero

    /// The oldest commit that is kept, or nil when there is no segment.
    var oldest: SequenceNumber? { segments.first.map { max($0.first, beginning) } }

    /// How many bytes all segments take on disk.
    var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }

    /// The segment that holds the commit, if any does, and the nearest known place at or before it.
    func place(of sequence: SequenceNumber) -> (segment: SequenceNumber, place: Place)? {
        guard sequence >= beginning, let segment = segments.last(where: { $0.first <= sequence }) else { return nil }
        let start = Place(sequence: segment.first, offset: JournalSegment.headerBytes)
        return (segment.first, segment.marks.last { $0.sequence <= sequence } ?? start)
    }

    /// Remembers where a commit's frame is, unless another is near.
    mutating func note(_ place: Place, in segment: SequenceNumber) {
        guard let index = segments.lastIndex(where: { $0.first == segment }) else { return }
        let known = segments[index].marks.last?.offset ?? JournalSegment.headerBytes
        if place.offset >= known + Self.markDistance { segments[index].marks.append(place) }
    }
}
