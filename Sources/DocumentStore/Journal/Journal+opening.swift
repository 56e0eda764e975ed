internal import DocumentModel

/// A journal folder that has been read through.
struct OpenedJournal {
    /// The journal.
    let journal: Journal
    /// Writes behind the last commit.
    let writer: JournalWriter
    /// The last commit in the journal, or nil when there is none.
    let last: (sequence: SequenceNumber, time: Timestamp)?
    /// Where the frames of the last segment end.
    let end: Int
    /// Where a damage was passed over, because all commits that were lost are in the documents' files; the last one.
    let damage: JournalPlace?
    /// Where a batch was cut off the end that was not acknowledged, or can't be told from one; and how many bytes.
    let cut: (place: JournalPlace, byteCount: Int)?
}

/// A place in a journal segment.
struct JournalPlace: Hashable {
    /// The segment's first commit.
    let segment: SequenceNumber
    let offset: Int
}

extension Journal {
    /// How a journal is opened.
    struct Opening {
        /// The history that it must belong to.
        let epoch: Epoch
        /// The last commit whose documents' files are known to be on disk.
        let checkpoint: SequenceNumber
        /// Whether the database was closed after that commit, so that the journal may have been removed.
        let isClean: Bool
        /// The size to which segments are preallocated.
        let segmentBytes: Int
    }

    /// Reads the journal through from the checkpoint on, calls `replay` with each commit behind it, and cuts off a batch that
    /// was being written when the machine stopped.
    ///
    /// Damage before the checkpoint costs the history up to there and nothing else: the segments stay as they are, and what is
    /// kept begins behind them. When the database was not closed and the journal does not reach the checkpoint, its last commits
    /// may be lost, and a new history begins.
    ///
    /// - Throws: `.dataLoss` when a commit behind the checkpoint can't be read although it was on disk once; nothing has been
    ///   changed then.
    static func open(
        _ folder: consuming FileDescriptor,
        _ opening: Opening,
        replay: (Commit) throws(StatusError) -> Void
    ) throws(StatusError) -> OpenedJournal {
        var scan = JournalScan(opening: opening, index: try index(of: folder))
        try scan.run(in: folder, replay: replay)
        try reporting("remove", "\(DataFolder.journalName)/\(spareName)") { () throws(SystemError) in
            _ = try folder.removeFile(spareName)
        }
        let isLost = !opening.isClean && !scan.reachesCheckpoint
        if isLost { try scan.discardAll(in: folder) }
        return try scan.finish(folder, epoch: isLost ? .random() : opening.epoch)
    }

    private static func index(of folder: borrowing FileDescriptor) throws(StatusError) -> JournalIndex {
        try reporting("list", DataFolder.journalName) { () throws(SystemError) in
            var index = JournalIndex()
            var listing = try folder.openForListing()
            while let entry = try listing.next() {
                guard let first = JournalSegment.first(ofName: entry.name) else { continue }
                let size = try folder.status(of: JournalSegment.name(first: first))?.size ?? 0
                index.segments.append(JournalIndex.Segment(first: first, byteCount: size))
            }
            index.segments.sort { $0.first < $1.first }
            return index
        }
    }
}
