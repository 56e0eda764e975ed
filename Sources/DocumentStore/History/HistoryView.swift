internal import DocumentModel

/// What the commits after a time changed, and so what documents were at that time.
///
/// It knows the commits that were written when it was made. Whatever a reader has seen of documents before that, and is not
/// changed by these commits, was so at the time.
struct HistoryView: Sendable {
    /// A document's first change after the time.
    struct Place {
        let part: Int
        let frame: Int
        /// Whether there was a document at the time.
        let existed: Bool
    }

    /// The commits after this time.
    let time: Timestamp
    /// The parts of the journal in which such commits are, in order.
    let parts: [HistoryPart]
    private let journal: Journal

    init(of parts: [HistoryPart], after time: Timestamp, in journal: Journal) {
        self.time = time
        self.parts = parts
        self.journal = journal
    }

    /// Calls `body` with the commits that may have changed something of interest.
    ///
    /// - Parameter frames: Chooses among the commits of a part.
    func forEachCommit(
        _ frames: (HistoryPart, Range<Int>) -> [Int],
        _ body: (Commit, _ part: Int, _ frame: Int) throws(StatusError) -> Void
    ) throws(StatusError) {
        var reader = JournalFrames(journal)
        for (index, part) in parts.enumerated() {
            for frame in frames(part, part.firstFrame(after: time)..<part.frames.count) {
                try body(try reader.commit(frame, of: part), index, frame)
            }
        }
    }

    /// The document at `path` as it was, nil when there was none; nothing when it has not been changed since.
    func image(of path: DocumentPath) throws(StatusError) -> EncodedDocument?? {
        var reader = JournalFrames(journal)
        for (index, part) in parts.enumerated() {
            for frame in part.frames(changing: path, in: part.firstFrame(after: time)..<part.frames.count) {
                // Another document may have the same hash.
                guard let change = try reader.change(of: path, frame, of: part) else { continue }
                return .some(try image(of: change, at: Place(part: index, frame: frame, existed: change.existedBefore), &reader))
            }
        }
        return nil
    }

    /// The documents as they were before their first changes.
    func images(of places: [DocumentPath: Place]) throws(StatusError) -> [DocumentPath: EncodedDocument?] {
        var reader = JournalFrames(journal)
        var images: [DocumentPath: EncodedDocument?] = [:]
        // In the order of the journal, so that a commit of many documents is read once.
        for (path, place) in places.sorted(by: { ($0.value.part, $0.value.frame) < ($1.value.part, $1.value.frame) }) {
            let change = place.existed ? try reader.change(of: path, place.frame, of: parts[place.part]) : nil
            images[path] = .some(try change.flatMap { change throws(StatusError) in try image(of: change, at: place, &reader) })
        }
        return images
    }

    private func image(
        of change: DocumentChange,
        at place: Place,
        _ reader: inout JournalFrames
    ) throws(StatusError) -> EncodedDocument? {
        guard place.existed else { return nil }
        if let before = change.before { return before }
        let part = parts[place.part]
        for frame in part.frames(changing: change.path, in: 0..<place.frame).reversed() {
            if let earlier = try reader.change(of: change.path, frame, of: part) { return earlier.after }
        }
        throw StatusError(.internal, "The journal does not tell what the document was.", path: change.path.string)
    }
}

extension History {
    /// What was committed after `time`.
    ///
    /// - Throws: `.failedPrecondition` when that is not kept.
    func view(after time: Timestamp) async throws(StatusError) -> HistoryView {
        try await checkKept(time)
        var found: [HistoryPart] = []
        for id in parts {
            if let last = lastTime(of: id), last <= time { break }
            guard let part = try await index(of: id) else {
                // Retired meanwhile.
                try await checkKept(time)
                break
            }
            found.append(part)
            if let first = part.frames.first, first.time <= time { break }
        }
        return HistoryView(of: found.reversed(), after: time, in: journal)
    }
}
