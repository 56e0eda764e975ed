internal import DocumentModel

/// Which documents the commits in one run of frames of a journal segment changed.
///
/// The first of these frames that changes a document carries it as it was before, so what a document was at a time from the
/// run's beginning on is told by the run itself.
///
/// Documents and collections are known by their hashes, 16 bytes a change. What is found by them is compared with the frame.
struct HistoryPart: Sendable {
    /// Names a part: where its first frame is.
    struct ID: Hashable, Sendable {
        let segment: SequenceNumber
        let start: Int
    }

    /// A commit.
    struct Frame: Sendable {
        let time: Timestamp
        let offset: Int
    }

    /// A change of a document by a commit.
    private struct Change {
        let document: Int
        let collection: UInt32
        let frame: UInt32
    }

    /// The segment.
    let segment: SequenceNumber
    /// The commits, in order.
    private(set) var frames: [Frame] = []
    /// Their changes, in order.
    private var changes: [Change] = []

    /// A part without commits.
    init(segment: SequenceNumber) {
        self.segment = segment
    }

    /// Adds the next commit.
    mutating func append(_ commit: Commit, offset: Int) {
        for change in commit.changes {
            changes.append(
                Change(
                    document: change.path.hashValue,
                    collection: Self.hash(change.path.collection),
                    frame: UInt32(frames.count)
                )
            )
        }
        frames.append(Frame(time: commit.time, offset: offset))
    }

    /// Names the part.
    var id: ID { ID(segment: segment, start: frames.first?.offset ?? JournalSegment.headerBytes) }

    /// About the memory that the part takes.
    var byteCount: Int {
        frames.count * MemoryLayout<Frame>.stride + changes.count * MemoryLayout<Change>.stride
    }

    /// The first commit after a time, or the one behind the last.
    func firstFrame(after time: Timestamp) -> Int {
        var range = frames.startIndex..<frames.endIndex
        while let middle = range.middle {
            range = frames[middle].time > time ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
        }
        return range.lowerBound
    }

    /// The first commit at a time or later, or the one behind the last; that also without a time.
    func firstFrame(from time: Timestamp?) -> Int {
        guard let time else { return frames.endIndex }
        let later = firstFrame(after: time)
        return later > 0 && frames[later - 1].time == time ? later - 1 : later
    }

    /// The commits that change a document, or seem to, in order.
    func frames(changing path: DocumentPath, in range: Range<Int>) -> [Int] {
        let hash = path.hashValue
        return frames(in: range) { $0.document == hash }
    }

    /// The commits that change a document of a collection, or seem to, in order.
    func frames(changing collection: CollectionPath, in range: Range<Int>) -> [Int] {
        let hash = Self.hash(collection)
        return frames(in: range) { $0.collection == hash }
    }

    private func frames(in range: Range<Int>, where isWanted: (Change) -> Bool) -> [Int] {
        var found: [Int] = []
        changes.withUnsafeBufferPointer { changes in
            for change in changes[firstChange(from: range.lowerBound)...] where isWanted(change) {
                let frame = Int(change.frame)
                if frame >= range.upperBound { break }
                if found.last != frame { found.append(frame) }
            }
        }
        return found
    }

    private func firstChange(from frame: Int) -> Int {
        var range = changes.startIndex..<changes.endIndex
        while let middle = range.middle {
            range = changes[middle].frame >= frame ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
        }
        return range.lowerBound
    }

    private static func hash(_ collection: CollectionPath) -> UInt32 {
        UInt32(truncatingIfNeeded: collection.hashValue)
    }
}

extension Range<Int> {
    /// The number in the middle; nil when the range is empty.
    fileprivate var middle: Int? {
        isEmpty ? nil : lowerBound + count / 2
    }
}
