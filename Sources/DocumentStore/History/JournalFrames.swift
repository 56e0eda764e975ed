internal import DocumentModel

/// Reads single frames of the journal; the one read last stays at hand.
struct JournalFrames: ~Copyable {
    private let journal: Journal
    private var last: (segment: SequenceNumber, offset: Int, frame: JournalFrame)?

    init(_ journal: Journal) {
        self.journal = journal
    }

    /// What a commit made of a document; nil when it did not change it.
    mutating func change(of path: DocumentPath, _ frame: Int, of part: HistoryPart) throws(StatusError) -> DocumentChange? {
        try commit(frame, of: part).change(of: path)
    }

    /// A commit of a part.
    mutating func commit(_ frame: Int, of part: HistoryPart) throws(StatusError) -> Commit {
        let (segment, offset) = (part.segment, part.frames[frame].offset)
        if let last, last.segment == segment, last.offset == offset { return last.frame.commit }
        guard var reader = try journal.reader(of: segment, from: offset, windowBytes: 8 << 10) else {
            throw StatusError(
                .failedPrecondition,
                "The commits that the read time needs have just been removed from the journal, because they are old. Give a later "
                    + "time."
            )
        }
        let reading = try reporting("read", Journal.path(first: segment)) { () throws(SystemError) in try reader.next() }
        guard case .frame(let read, _) = reading else { throw Journal.damaged(segment, at: offset) }
        last = (segment, offset, read)
        return read.commit
    }
}
