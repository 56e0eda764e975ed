internal import DocumentModel
internal import DocumentStore
internal import StorageIO

/// A random-access reader of journal records. Those from which it reads single changes are cached for all readers of the history.
struct JournalRecordReader: ~Copyable {
    private let journal: Journal
    private let cache: JournalRecordCache
    /// The last two commits from which changes were read, the later one last: they may be too large for the cache, and the version of a
    /// document before a commit may be that after another one.
    private var last: [(location: JournalRecordCache.Location, entry: JournalRecordCache.Entry)] = []

    init(_ journal: Journal, _ cache: JournalRecordCache) {
        self.journal = journal
        self.cache = cache
    }

    /// Returns the change to a document by the indexed commit at `position`; `nil` if the commit did not change it.
    mutating func change(
        to path: DocumentPath,
        at position: Int,
        in index: SegmentIndex
    ) throws(StatusError) -> CommittedChange? {
        let record = index.records[position]
        let location = JournalRecordCache.Location(segment: index.segment, offset: record.offset)
        let entry: JournalRecordCache.Entry
        if let known = known(at: location, time: record.time) {
            entry = known
        } else {
            let (commit, byteCount) = try read(at: location)
            entry = JournalRecordCache.Entry(commit)
            cache.insert(entry, at: location, byteCount: byteCount)
        }
        if last.last?.location != location { last = last.suffix(1) + [(location, entry)] }
        return entry.change(to: path)
    }

    /// Returns the indexed commit at `position`.
    ///
    /// - Throws: `.failedPrecondition` when the segment has been removed since it was indexed; `.dataLoss` when the record is
    ///   damaged.
    func commit(at position: Int, in index: SegmentIndex) throws(StatusError) -> Commit {
        let record = index.records[position]
        let location = JournalRecordCache.Location(segment: index.segment, offset: record.offset)
        if let known = known(at: location, time: record.time) { return known.commit }
        return try read(at: location).commit
    }

    private func known(at location: JournalRecordCache.Location, time: Timestamp) -> JournalRecordCache.Entry? {
        last.last { $0.location == location }?.entry ?? cache.entry(at: location, time: time)
    }

    private func read(at location: JournalRecordCache.Location) throws(StatusError) -> (commit: Commit, byteCount: Int) {
        guard var reader = try journal.reader(of: location.segment, from: location.offset, windowBytes: 8 << 10) else {
            throw StatusError(
                .failedPrecondition,
                "The commits needed for the read time were removed from the journal during the read, because they exceeded the "
                    + "retention limit. Use a later read time."
            )
        }
        let path = Journal.path(first: location.segment)
        let result = try reporting("read", path) { () throws(FileSystemError) in try reader.next() }
        guard case .record(let record, let byteCount) = result else {
            throw Journal.damaged(location.segment, at: location.offset)
        }
        return (record.commit, byteCount)
    }
}
