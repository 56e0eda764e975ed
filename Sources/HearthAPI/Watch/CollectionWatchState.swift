import DocumentModel
import DocumentStore

/// The state machine of a stream that watches a document or a collection, without a clock, store or socket.
///
/// The initial state is sent without blocking writers. It is read page by page; after each page, the commits made in the meantime
/// are replayed for all documents sent so far. The watcher then has the documents up to the end of that page exactly as of one
/// commit. The update times of a page are kept until those commits are replayed, so the memory use is that of one page, however
/// large the collection.
struct CollectionWatchState: Sendable {
    private let target: PreparedWatchTarget
    private let database: DatabaseID?
    let epoch: String
    /// The sequence number and time of the last applied commit.
    private(set) var sequence: SequenceNumber
    private(set) var time: Timestamp

    /// The part of the target that has been read.
    private var readExtent = Extent.nothing
    /// The part of the target that the watcher has as of ``sequence``.
    private var consistentExtent = Extent.nothing
    /// The commit after which the last page is consistent.
    private(set) var barrier: SequenceNumber
    /// The update times of the documents on the last page, until the page is consistent.
    private var sentUpdateTimes: [DocumentPath.ID: Timestamp] = [:]
    private var isCurrent = false
    /// The number of documents that the watcher has, or `nil` if unknown.
    private(set) var count: Int? = 0

    /// A prefix of the target in ID order.
    private enum Extent {
        case nothing
        case upTo(DocumentPath.ID)
        case everything

        func contains(_ id: DocumentPath.ID) -> Bool {
            switch self {
            case .nothing: false
            case .upTo(let last): id <= last
            case .everything: true
            }
        }
    }

    /// Creates the state of a new stream, at a position after which all commits will be applied.
    init(target: PreparedWatchTarget, at position: StorePosition) {
        self.target = target
        self.database = position.database
        self.epoch = position.epoch
        self.sequence = position.lastSequence
        self.time = position.lastCommitTime ?? .minimum
        self.barrier = position.lastSequence
    }

    /// Creates the state of a resumed stream. It is caught up when all commits up to the position have been applied.
    init(target: PreparedWatchTarget, resumingAfter token: ResumeToken, at position: StorePosition) {
        self.target = target
        self.database = position.database
        self.epoch = position.epoch
        self.sequence = token.sequence
        self.time = token.time
        self.barrier = position.lastSequence
        self.readExtent = .everything
        self.consistentExtent = .everything
        self.isCurrent = true
        self.count = nil
    }
}

extension CollectionWatchState {
    /// Applies the next page of the initial state and returns its frames. The previous page must be consistent.
    ///
    /// - Parameters:
    ///   - last: The last ID that the page covers, or `nil` for the last page.
    ///   - position: The position of the commit log after the page was read.
    mutating func apply(
        page documents: [EncodedDocument],
        upTo last: DocumentPath.ID?,
        at position: StorePosition
    ) -> [OutgoingWatchFrame] {
        readExtent = last.map { .upTo($0) } ?? .everything
        barrier = position.lastSequence
        for document in documents {
            // An update time later than the last commit comes from an imported file. All future commits are later than the file.
            let isCommitted = position.lastCommitTime.map { document.updateTime <= $0 } ?? false
            sentUpdateTimes[document.path.id] = isCommitted ? document.updateTime : .minimum
        }
        count = count.map { $0 + documents.count }
        updateConsistentExtent()
        return documents.map { .change(OutgoingWatchFrame.Change(.added, $0.path, $0), position: nil) }
    }

    /// Applies the next commit and returns its frames.
    mutating func apply(_ commit: Commit) -> [OutgoingWatchFrame] {
        sequence = commit.sequence
        time = commit.time
        let changes = commit.changes.compactMap { apply($0, at: commit.time) }
        updateConsistentExtent()
        return commit.frames(changes, token: resumeToken)
    }

    /// Advances a live stream past commits whose frames were read for another stream with the same target.
    mutating func advance(through sequence: SequenceNumber, at time: Timestamp, addedCount: Int) {
        self.sequence = sequence
        self.time = time
        count = count.map { $0 + addedCount }
    }

    /// True if all commits that are required before the next page or ``current()`` have been applied.
    var isCaughtUp: Bool {
        sequence >= barrier
    }

    /// Returns the frame that completes the initial state, once; `nil` while the state is incomplete.
    mutating func current() -> OutgoingWatchFrame? {
        guard case .everything = consistentExtent, !isCurrent, let count else { return nil }
        isCurrent = true
        return .current(sequence: sequence, count: count, token: token)
    }

    /// The heartbeat frame, or `nil` while the initial state is incomplete.
    var heartbeat: OutgoingWatchFrame? {
        resumeToken.map { .heartbeat(sequence: sequence, count: count, token: $0) }
    }

    /// The resume token after the last commit, or `nil` while the initial state is incomplete.
    var resumeToken: ResumeToken? {
        isCurrent ? token : nil
    }

    private var token: ResumeToken {
        ResumeToken(target: target, database: database, epoch: epoch, sequence: sequence, time: time)
    }
}

extension CollectionWatchState {
    /// Applies a change and returns its frame contents, or `nil` if it does not affect the watcher.
    private mutating func apply(_ change: CommittedChange, at time: Timestamp) -> OutgoingWatchFrame.Change? {
        let id = change.path.id
        // Documents beyond the pages read so far are sent with their own page.
        guard target.contains(change.path), readExtent.contains(id) else { return nil }
        let isKnown: Bool
        if let sentTime = sentUpdateTimes[id] {
            // The page already included this commit.
            guard time > sentTime else { return nil }
            isKnown = true
        } else {
            isKnown = consistentExtent.contains(id) && change.existedBefore
        }
        switch (change.after, isKnown) {
        case (let document?, true):
            recordSent(id, at: time)
            return OutgoingWatchFrame.Change(.modified, change.path, document, before: change.before)
        case (let document?, false):
            recordSent(id, at: time)
            count = count.map { $0 + 1 }
            return OutgoingWatchFrame.Change(.added, change.path, document)
        case (nil, true):
            sentUpdateTimes[id] = nil
            count = count.map { $0 - 1 }
            return OutgoingWatchFrame.Change(.deleted, change.path, before: change.before)
        case (nil, false):
            return nil
        }
    }

    /// Records the time of a sent document. In the consistent extent, each change itself shows whether the watcher has the
    /// document.
    private mutating func recordSent(_ id: DocumentPath.ID, at time: Timestamp) {
        if !consistentExtent.contains(id) {
            sentUpdateTimes[id] = time
        }
    }

    private mutating func updateConsistentExtent() {
        guard isCaughtUp else { return }
        consistentExtent = readExtent
        sentUpdateTimes.removeAll()
    }
}

extension Commit {
    /// Returns the frames of the commit's changes for a watcher.
    ///
    /// - Parameter token: The resume token after the commit, or `nil` while the initial state is incomplete.
    func frames(_ changes: [OutgoingWatchFrame.Change], token: ResumeToken?) -> [OutgoingWatchFrame] {
        changes.enumerated().map { index, change in
            let position = OutgoingWatchFrame.Position(
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
