internal import DocumentModel
internal import StrictJSON

/// The versions of a document, collected from the newest to the oldest.
struct DocumentVersions: Sendable {
    /// The document.
    let path: DocumentPath
    /// Only versions older than this are wanted.
    let before: Timestamp?
    private let count: Int
    private var versions: [DocumentVersion] = []
    /// The oldest change that was found.
    private var oldest: (time: Timestamp, change: DocumentChange)?

    /// Begins with the newest version older than `before`.
    ///
    /// - Parameter count: How many are needed.
    init(of path: DocumentPath, before: Timestamp?, count: Int) {
        self.path = path
        self.before = before
        self.count = count
    }

    /// Whether there are enough.
    var isComplete: Bool { versions.count >= count }

    /// Whether no change was added, so that what was before the wanted versions' end is told by the change behind them.
    var lacksChange: Bool { oldest == nil && !isComplete }

    /// Takes in the first change that is newer than what is wanted, where none is older.
    mutating func add(following change: DocumentChange, of commit: Commit) {
        oldest = (commit.time, change)
    }

    /// Adds the next older change.
    mutating func add(_ change: DocumentChange, of commit: Commit) {
        add(change.after, at: commit.time, by: commit.author)
        oldest = (commit.time, change)
    }

    /// All versions, when the oldest part of the journal has been looked through or there are enough.
    ///
    /// - Parameter current: What is in the document's file; it counts when no commit that changed the document is kept.
    consuming func finish(current: Result<EncodedDocument?, StatusError>) throws(StatusError) -> [DocumentVersion] {
        guard !isComplete else { return versions }
        let first = if let oldest { oldest.change.before } else { try current.get() }
        guard let first, oldest.map({ first.updateTime < $0.time }) ?? true else { return versions }
        add(first, at: first.updateTime, by: nil)
        return versions
    }

    private mutating func add(_ document: EncodedDocument?, at time: Timestamp, by author: UTF8Key?) {
        if let before, time >= before { return }
        versions.append(DocumentVersion(commitTime: time, document: document, author: author))
    }
}

extension History {
    /// Adds what the commits of a part made of a document, those that are too new left out unread.
    func add(_ part: HistoryPart, to versions: inout DocumentVersions) throws(StatusError) {
        var reader = JournalFrames(journal)
        let frames = part.frames(changing: versions.path, in: 0..<part.firstFrame(from: versions.before))
        for frame in frames.reversed() where !versions.isComplete {
            let commit = try reader.commit(frame, of: part)
            guard let change = commit.change(of: versions.path) else { continue }
            versions.add(change, of: commit)
        }
    }

    /// Adds the first change in a part that is too new, because it tells what was before.
    func addFollowing(_ part: HistoryPart, to versions: inout DocumentVersions) throws(StatusError) {
        var reader = JournalFrames(journal)
        for frame in part.frames(changing: versions.path, in: part.firstFrame(from: versions.before)..<part.frames.count) {
            let commit = try reader.commit(frame, of: part)
            guard let change = commit.change(of: versions.path) else { continue }
            return versions.add(following: change, of: commit)
        }
    }
}
