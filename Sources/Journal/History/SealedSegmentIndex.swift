internal import DocumentModel
internal import DocumentStore
internal import StorageIO

/// The index of a run of journal records that is no longer appended to, built on demand.
struct SealedSegmentIndex {
    /// A build in progress; its result is `nil` if the segment is no longer retained.
    typealias BuildTask = Task<Result<SegmentIndex?, StatusError>, Never>

    /// The state of the index.
    enum State {
        case absent
        case building(BuildTask)
        case ready(SegmentIndex)
    }

    /// The segment's first commit.
    let segment: SequenceNumber
    /// The offsets of the run; the upper bound is `Int.max` when its end is not known.
    let range: Range<Int>
    /// The time of the last commit, when known.
    var lastTime: Timestamp?
    var state: State
    /// The use counter's value at the last use, for eviction.
    var lastUse = 0

    /// Creates an absent index.
    init(segment: SequenceNumber, range: Range<Int>, lastTime: Timestamp?) {
        self.segment = segment
        self.range = range
        self.lastTime = lastTime
        state = .absent
    }

    /// Seals an index whose last record ends at `end`.
    init(_ index: SegmentIndex, end: Int) {
        segment = index.segment
        range = index.id.start..<end
        lastTime = index.records.last?.time
        state = .ready(index)
    }

    var id: SegmentIndex.ID { SegmentIndex.ID(segment: segment, start: range.lowerBound) }

    /// The approximate memory use.
    var byteCount: Int {
        if case .ready(let index) = state { index.byteCount } else { 0 }
    }
}

extension Journal {
    /// Builds the index of a run of records by reading it; `nil` if the segment is no longer retained.
    ///
    /// - Throws: `.dataLoss` when the run is damaged or incomplete.
    func segmentIndex(of segment: SequenceNumber, in range: Range<Int>) throws(StatusError) -> SegmentIndex? {
        var index = SegmentIndex(segment: segment)
        guard var reader = try reader(of: segment, from: range.lowerBound, windowBytes: 1 << 20) else { return nil }
        var next = segment
        while reader.offset < range.upperBound {
            let offset = reader.offset
            let result = try reporting("read", Self.path(first: segment)) { () throws(FileSystemError) in try reader.next() }
            switch result {
            case .record(let record, _):
                index.append(record.commit, offset: offset)
                next = record.commit.sequence.next
            case .end where range.upperBound == .max:
                // A truncated segment must not pass for a complete one.
                guard self.segment(after: segment).map({ $0 == next }) ?? true else { throw Self.damaged(segment, at: offset) }
                return index
            case .end, .incomplete, .damaged:
                throw Self.damaged(segment, at: offset)
            }
        }
        return index
    }

    /// Returns the error for a segment that another program has removed, and that history needs.
    static func missing(_ segment: SequenceNumber) -> StatusError {
        StatusError(
            .dataLoss,
            "\(Self.path(first: segment)) in the data folder is missing, so earlier versions of documents cannot be determined. "
                + "Current documents are unaffected."
        )
    }

    /// Returns the error for a damaged record that history needs.
    static func damaged(_ segment: SequenceNumber, at offset: Int) -> StatusError {
        StatusError(
            .dataLoss,
            "\(Self.path(first: segment)) in the data folder is damaged at byte \(offset), so earlier versions of documents cannot be "
                + "determined. Current documents are unaffected."
        )
    }
}
