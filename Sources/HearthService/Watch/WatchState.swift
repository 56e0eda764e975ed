import DocumentModel
import DocumentStore

/// What a watcher has been told so far, and so what it must be told next: the logic of a watch stream without its clock,
/// its store and its socket.
///
/// The state of the target is sent without stopping the writers. It is read page by page; after each page the commits that
/// came meanwhile are replayed for all that was sent before it, so that the watcher then knows the documents up to the end
/// of that page exactly as they were at one commit. What a page showed of a commit beforehand is remembered only until that
/// commit was replayed, so the memory needed is a page's, however large the collection is.
struct WatchState: Sendable {
    let target: WatchTarget
    let database: DatabaseID?
    let epoch: String
    /// The last commit that was taken.
    private(set) var sequence: SequenceNumber
    /// Its time.
    private var time: Timestamp

    /// How much of the target was read, and how much of that the watcher knows as of ``sequence``.
    private var read = Extent.nothing
    private var settled = Extent.nothing
    /// The commit that settles the last page.
    private var barrier: SequenceNumber
    /// The documents of the last page and the commit times that they were told as of, until the page is settled.
    private var told: [DocumentID: Timestamp] = [:]
    private var isCurrent = false
    /// How many documents of the target the watcher knows.
    private var count: Int? = 0

    /// Part of the target, from its beginning in ID order.
    private enum Extent {
        case nothing
        case upTo(DocumentID)
        case everything

        func contains(_ id: DocumentID) -> Bool {
            switch self {
            case .nothing: false
            case .upTo(let last): id <= last
            case .everything: true
            }
        }
    }

    /// Begins with nothing told, at a position of the log from which on all commits will be taken.
    init(target: WatchTarget, at position: StorePosition) {
        self.target = target
        self.database = position.database
        self.epoch = position.epoch
        self.sequence = position.lastSequence
        self.time = position.lastCommitTime ?? .minimum
        self.barrier = position.lastSequence
    }

    /// Goes on with a watcher that knows everything up to a commit; settled once all up to the log's position was taken.
    init(target: WatchTarget, resumingAfter token: WatchToken, at position: StorePosition) {
        self.target = target
        self.database = position.database
        self.epoch = position.epoch
        self.sequence = token.sequence
        self.time = token.time
        self.barrier = position.lastSequence
        self.read = .everything
        self.settled = .everything
        self.isCurrent = true
        self.count = nil
    }
}

extension WatchState {
    /// Takes the next documents of the target. The page before must be settled.
    ///
    /// - Parameters:
    ///   - last: The ID up to which the page shows all there is; nil when it goes to the end.
    ///   - position: The log's position after the page was read.
    mutating func take(page documents: [EncodedDocument], upTo last: DocumentID?, at position: StorePosition) -> [WatchFrame] {
        read = last.map { .upTo($0) } ?? .everything
        barrier = position.lastSequence
        for document in documents {
            // A time that no commit had yet is that of a file from elsewhere. All commits to come are later than the file.
            let isCommitted = position.lastCommitTime.map { document.updateTime <= $0 } ?? false
            told[document.path.id] = isCommitted ? document.updateTime : .minimum
        }
        count = count.map { $0 + documents.count }
        settleIfComplete()
        return documents.map { .change(WatchFrame.Change(.added, $0.path, $0), position: nil) }
    }

    /// Takes the next commit of the log, and gives what it changes for the watcher.
    mutating func take(_ commit: Commit) -> [WatchFrame] {
        sequence = commit.sequence
        time = commit.time
        let changes = commit.changes.compactMap { take($0, at: commit.time) }
        settleIfComplete()
        return commit.frames(changes, token: bookmark)
    }

    /// Whether the commits were taken that are needed before the next page, or ``current()``.
    var isSettled: Bool {
        sequence >= barrier
    }

    /// The frame that ends the initial state; nil while it is incomplete, and after it was given.
    mutating func current() -> WatchFrame? {
        guard case .everything = settled, !isCurrent, let count else { return nil }
        isCurrent = true
        return .current(sequence: sequence, count: count, token: token)
    }

    /// The sign of life; nil while the initial state is incomplete.
    var checkpoint: WatchFrame? {
        bookmark.map { .checkpoint(sequence: sequence, count: count, token: $0) }
    }

    /// The bookmark after the last commit; nil while the initial state is incomplete.
    var bookmark: WatchToken? {
        isCurrent ? token : nil
    }

    private var token: WatchToken {
        WatchToken(target: target, database: database, epoch: epoch, sequence: sequence, time: time)
    }
}

extension WatchState {
    /// What a change means to the watcher; nil when it means nothing.
    private mutating func take(_ change: DocumentChange, at time: Timestamp) -> WatchFrame.Change? {
        let id = change.path.id
        // What lies beyond the pages read so far will be shown by its own page.
        guard target.contains(change.path), read.contains(id) else { return nil }
        let isKnown: Bool
        if let toldTime = told[id] {
            // The page showed this commit already.
            guard time > toldTime else { return nil }
            isKnown = true
        } else {
            isKnown = settled.contains(id) && change.existedBefore
        }
        switch (change.after, isKnown) {
        case (let document?, true):
            note(id, toldAt: time)
            return WatchFrame.Change(.modified, change.path, document, before: change.before)
        case (let document?, false):
            note(id, toldAt: time)
            count = count.map { $0 + 1 }
            return WatchFrame.Change(.added, change.path, document)
        case (nil, true):
            told[id] = nil
            count = count.map { $0 - 1 }
            return WatchFrame.Change(.deleted, change.path, before: change.before)
        case (nil, false):
            return nil
        }
    }

    /// In what is settled every change says by itself whether the document was known.
    private mutating func note(_ id: DocumentID, toldAt time: Timestamp) {
        if !settled.contains(id) {
            told[id] = time
        }
    }

    private mutating func settleIfComplete() {
        guard isSettled else { return }
        settled = read
        told.removeAll()
    }
}

extension Commit {
    /// The frames of what the commit changed for a watcher.
    ///
    /// - Parameter token: Resumes after the commit; nil while the watcher has not all of the initial state.
    func frames(_ changes: [WatchFrame.Change], token: WatchToken?) -> [WatchFrame] {
        changes.enumerated().map { index, change in
            let position = WatchFrame.Position(
                sequence: sequence,
                time: time,
                number: index + 1,
                count: changes.count,
                token: index == changes.count - 1 ? token : nil
            )
            return .change(change, position: position)
        }
    }
}
