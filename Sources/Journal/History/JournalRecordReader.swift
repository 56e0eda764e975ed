internal import DocumentModel
internal import DocumentStore
internal import StorageIO

/// A random-access reader of journal records that caches the last one read.
struct JournalRecordReader: ~Copyable {
    private let journal: Journal
    private var last: (segment: SequenceNumber, offset: Int, record: JournalRecord)?

    init(_ journal: Journal) {
        self.journal = journal
    }

    /// Returns the change to a document by the indexed commit at `position`; `nil` if the commit did not change it.
    mutating func change(
        to path: DocumentPath,
        at position: Int,
        in index: SegmentIndex
    ) throws(StatusError) -> CommittedChange? {
        try commit(at: position, in: index).change(to: path)
    }

    /// Returns the indexed commit at `position`.
    ///
    /// - Throws: `.failedPrecondition` when the segment has been removed since it was indexed; `.dataLoss` when the record is
    ///   damaged.
    mutating func commit(at position: Int, in index: SegmentIndex) throws(StatusError) -> Commit {
        let (segment, offset) = (index.segment, index.records[position].offset)
        if let last, last.segment == segment, last.offset == offset { return last.record.commit }
        guard var reader = try journal.reader(of: segment, from: offset, windowBytes: 8 << 10) else {
            throw StatusError(
                .failedPrecondition,
                "The commits needed for the read time were removed from the journal during the read, because they exceeded the "
                    + "retention limit. Use a later read time."
            )
        }
        let result = try reporting("read", Journal.path(first: segment)) { () throws(FileSystemError) in try reader.next() }
        guard case .record(let record, _) = result else { throw Journal.damaged(segment, at: offset) }
        last = (segment, offset, record)
        return record.commit
    }
}
