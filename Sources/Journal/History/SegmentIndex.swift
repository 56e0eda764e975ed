internal import DocumentModel
internal import DocumentStore

/// An index of the documents and collections that a run of records in a journal segment changed.
///
/// The first record of the run that changes a document contains its before-image, so the run alone determines the document at any
/// time since its first commit.
///
/// Documents and collections are identified by hashes, 16 bytes per change. A match has to be confirmed with the record.
package struct SegmentIndex: Sendable {
    /// The location of the run's first record.
    package struct ID: Hashable, Sendable {
        let segment: SequenceNumber
        let start: Int
    }

    /// An indexed record.
    struct Record: Sendable {
        /// The commit's time.
        let time: Timestamp
        /// The record's offset in the segment.
        let offset: Int
    }

    /// A change to one document.
    private struct Change {
        /// The hash of the document's path.
        let document: Int
        /// The hash of the collection's path.
        let collection: UInt32
        /// The position in ``SegmentIndex/records``.
        let record: UInt32
    }

    /// The segment's first commit.
    let segment: SequenceNumber
    /// The records, in order.
    private(set) var records: [Record] = []
    /// The changes of all records, in order.
    private var changes: [Change] = []

    /// Creates an empty index.
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
                    record: UInt32(records.count)
                )
            )
        }
        records.append(Record(time: commit.time, offset: offset))
    }

    var id: ID { ID(segment: segment, start: records.first?.offset ?? JournalSegment.headerBytes) }

    /// The approximate memory use.
    var byteCount: Int {
        records.count * MemoryLayout<Record>.stride + changes.count * MemoryLayout<Change>.stride
    }

    /// Returns the position of the first commit after a time; the end position when there is none.
    func firstRecord(after time: Timestamp) -> Int {
        var range = records.startIndex..<records.endIndex
        while let middle = range.middle {
            range = records[middle].time > time ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
        }
        return range.lowerBound
    }

    /// Returns the position of the first commit at or after a time; the end position if there is none, or if `time` is `nil`.
    func firstRecord(from time: Timestamp?) -> Int {
        guard let time else { return records.endIndex }
        let later = firstRecord(after: time)
        return later > 0 && records[later - 1].time == time ? later - 1 : later
    }

    /// Returns the positions of the commits that may have changed a document, in order.
    func records(changing path: DocumentPath, in range: Range<Int>) -> [Int] {
        let hash = path.hashValue
        return records(in: range) { $0.document == hash }
    }

    /// Returns, by position, the documents that a commit may have been the last to change. Takes one pass for all documents.
    func lastRecords(changing paths: some Sequence<DocumentPath>) -> [Int: [DocumentPath]] {
        var last: [Int: Int?] = [:]
        for path in paths { last[path.hashValue] = .some(nil) }
        changes.withUnsafeBufferPointer { changes in
            for change in changes where last[change.document] != nil { last[change.document] = .some(Int(change.record)) }
        }
        var found: [Int: [DocumentPath]] = [:]
        for path in paths {
            if case .some(.some(let record)) = last[path.hashValue] { found[record, default: []].append(path) }
        }
        return found
    }

    /// Returns the positions of the commits that may have changed a document in a collection, in order.
    func records(changing collection: CollectionPath, in range: Range<Int>) -> [Int] {
        let hash = Self.hash(collection)
        return records(in: range) { $0.collection == hash }
    }

    private func records(in range: Range<Int>, where predicate: (Change) -> Bool) -> [Int] {
        var found: [Int] = []
        changes.withUnsafeBufferPointer { changes in
            for change in changes[firstChange(from: range.lowerBound)...] where predicate(change) {
                let record = Int(change.record)
                if record >= range.upperBound { break }
                if found.last != record { found.append(record) }
            }
        }
        return found
    }

    private func firstChange(from record: Int) -> Int {
        var range = changes.startIndex..<changes.endIndex
        while let middle = range.middle {
            range = changes[middle].record >= record ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
        }
        return range.lowerBound
    }

    private static func hash(_ collection: CollectionPath) -> UInt32 {
        UInt32(truncatingIfNeeded: collection.hashValue)
    }
}

extension Range<Int> {
    /// The middle of the range; `nil` if it is empty.
    fileprivate var middle: Int? {
        isEmpty ? nil : lowerBound + count / 2
    }
}
