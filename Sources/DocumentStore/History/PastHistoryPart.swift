internal import DocumentModel

/// A run of frames of the journal that is not written any more. Its index may have to be made.
struct PastHistoryPart {
    /// The making of an index: nil when the part is no longer kept.
    typealias Making = Task<Result<HistoryPart?, StatusError>, Never>

    /// What there is of the index.
    enum Index {
        case unknown
        case building(Making)
        case known(HistoryPart)
    }

    /// The segment.
    let segment: SequenceNumber
    /// Where in it the frames are; up to the end when that is not known.
    let range: Range<Int>
    /// The time of the last commit, where it is known.
    var lastTime: Timestamp?
    var index: Index
    /// When it was last asked for.
    var lastUse = 0

    /// A part of which only the place is known.
    init(segment: SequenceNumber, range: Range<Int>, lastTime: Timestamp?) {
        self.segment = segment
        self.range = range
        self.lastTime = lastTime
        index = .unknown
    }

    /// A part that has been written, up to `end`.
    init(_ part: HistoryPart, end: Int) {
        segment = part.segment
        range = part.id.start..<end
        lastTime = part.frames.last?.time
        index = .known(part)
    }

    /// Names the part.
    var id: HistoryPart.ID { HistoryPart.ID(segment: segment, start: range.lowerBound) }

    /// About the memory that the index takes.
    var byteCount: Int {
        if case .known(let part) = index { part.byteCount } else { 0 }
    }
}

extension Journal {
    /// Reads through a run of frames; nil when the segment is no longer kept.
    func historyPart(of segment: SequenceNumber, in range: Range<Int>) throws(StatusError) -> HistoryPart? {
        var part = HistoryPart(segment: segment)
        guard var reader = try reader(of: segment, from: range.lowerBound, windowBytes: 1 << 20) else { return nil }
        var next = segment
        while reader.offset < range.upperBound {
            let offset = reader.offset
            let reading = try reporting("read", Self.path(first: segment)) { () throws(SystemError) in try reader.next() }
            switch reading {
            case .frame(let frame, _):
                part.append(frame.commit, offset: offset)
                next = frame.commit.sequence.next
            case .end where range.upperBound == .max:
                // A segment that was cut short must not pass for a whole one.
                guard self.segment(after: segment).map({ $0 == next }) ?? true else { throw Self.damaged(segment, at: offset) }
                return part
            case .end, .incomplete, .damaged:
                throw Self.damaged(segment, at: offset)
            }
        }
        return part
    }

    /// The error for a frame that history needs and that can't be read.
    static func damaged(_ segment: SequenceNumber, at offset: Int) -> StatusError {
        StatusError(
            .dataLoss,
            "\(Self.path(first: segment)) in the data folder is damaged at byte \(offset), so what documents were can't be told. "
                + "What they are is not affected."
        )
    }
}
