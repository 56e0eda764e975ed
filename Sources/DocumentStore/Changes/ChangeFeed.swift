internal import DocumentModel
internal import Synchronization

/// Gives commits to whoever watches: the recent ones from memory, older ones from the journal.
///
/// A subscriber is nothing here but a position, or a waiting continuation, so any number of slow ones cost nothing.
/// A commit leaves memory only when it is in the journal already, so there is no gap between the two.
final class ChangeFeed: Sendable {
    private let state: Mutex<State>
    private let journal: Journal
    private let epoch: String
    private let database: DatabaseID?
    private let listers: WorkQueue

    private struct State {
        /// The last published commit.
        var last: SequenceNumber
        var lastTime: Timestamp?
        /// The last commit of which readers may see documents.
        var installing: SequenceNumber
        /// The latest commits in order, ending with the last published one.
        var recent = RecentCommits()
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var waiterCount: UInt64 = 0
        var isClosed = false
        let maximumBytes: Int
    }

    init(
        last: SequenceNumber,
        lastTime: Timestamp?,
        database: DatabaseID?,
        maximumBytes: Int,
        journal: Journal,
        listers: WorkQueue
    ) {
        state = Mutex(State(last: last, lastTime: lastTime, installing: last, maximumBytes: maximumBytes))
        self.journal = journal
        epoch = journal.epoch.description
        self.database = database
        self.listers = listers
    }

    /// Where the log of commits stands.
    var position: StorePosition {
        let (last, time) = state.withLock { ($0.last, $0.lastTime) }
        return StorePosition(
            database: database,
            epoch: epoch,
            lastSequence: last,
            lastCommitTime: time,
            oldestKept: min(journal.oldest ?? last.next, last.next)
        )
    }

    /// Where the log of commits stands once every commit is in it of which a reader may have seen documents.
    func settledPosition() async throws(StatusError) -> StorePosition {
        let installing = state.withLock { $0.installing }
        while position.lastSequence < installing {
            guard !Task.isCancelled else { throw StatusError(.cancelled, "The task was cancelled.") }
            await wait(until: installing)
        }
        return position
    }

    /// Notes, before it happens, that documents of the commits up to `sequence` become visible.
    func willInstall(through sequence: SequenceNumber) {
        state.withLock { $0.installing = sequence }
    }

    /// Shows commits to everyone; they are durable and their documents in place. In order, without gaps.
    func publish(_ commits: [Commit]) {
        let waiters = state.withLock { state in
            for commit in commits { state.recent.append(commit, maximumBytes: state.maximumBytes) }
            if let last = commits.last {
                state.last = last.sequence
                state.lastTime = last.time
            }
            defer { state.waiters.removeAll() }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter() }
    }

    /// Ends all waiting and every further reading.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters.removeAll() }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter() }
    }

    /// The commits after `sequence`, at least one, as soon as there is one; nil when the task is cancelled or the feed closed.
    func commits(after sequence: SequenceNumber) async throws(StatusError) -> [Commit]? {
        while !Task.isCancelled {
            switch look(after: sequence) {
            case .commits(let commits): return commits
            case .inJournal(let last):
                let journal = journal
                return try await listers.run { () throws(StatusError) in try journal.commits(after: sequence, through: last) }
            case .none: await wait(until: sequence.next)
            case .closed: return nil
            case .inFuture(let last):
                throw StatusError(
                    .outOfRange,
                    "The position \(sequence) is after the last commit, \(last). Read the documents anew and watch from there."
                )
            }
        }
        return nil
    }

    /// The commits after `sequence`, where there are any and the first of them is in memory.
    func commitsInMemory(after sequence: SequenceNumber) -> [Commit] {
        if case .commits(let commits) = look(after: sequence) { commits } else { [] }
    }
}

extension ChangeFeed {
    /// Calls `body` once, as soon as there is something after `sequence` to read, or to be told that there never will be.
    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        let id = state.withLock { state -> UInt64? in
            if state.isClosed || state.last != sequence { return nil }
            state.waiterCount += 1
            state.waiters[state.waiterCount] = body
            return state.waiterCount
        }
        guard let id else {
            body()
            return CommitNotification {}
        }
        return CommitNotification { [self] in _ = state.withLock { $0.waiters.removeValue(forKey: id) } }
    }

    private enum Glance {
        case commits([Commit])
        case inJournal(last: SequenceNumber)
        case none
        case inFuture(last: SequenceNumber)
        case closed
    }

    private func look(after sequence: SequenceNumber) -> Glance {
        state.withLock { state in
            if state.isClosed { return .closed }
            if sequence > state.last { return .inFuture(last: state.last) }
            if sequence == state.last { return .none }
            if let commits = state.recent.commits(after: sequence) { return .commits(commits) }
            return .inJournal(last: state.last)
        }
    }

    /// Returns when the commit `sequence` may have been published, the feed is closed or the task cancelled.
    private func wait(until sequence: SequenceNumber) async {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Looked at again under the lock that publishing takes, so that no commit slips in between.
                let isDone = state.withLock { state in
                    if state.isClosed || state.last >= sequence || Task.isCancelled { return true }
                    state.waiters[id] = { continuation.resume() }
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?()
        }
    }
}

/// The latest commits, as many as fit into a number of bytes.
private struct RecentCommits {
    private var commits: [Commit] = []
    private var costs: [Int] = []
    /// How many at the front have been given up; they are removed many at a time.
    private var forgotten = 0
    private var bytes = 0

    mutating func append(_ commit: Commit, maximumBytes: Int) {
        let cost = Self.cost(of: commit)
        commits.append(commit)
        costs.append(cost)
        bytes += cost
        while bytes > maximumBytes, forgotten < commits.count {
            bytes -= costs[forgotten]
            forgotten += 1
        }
        if forgotten > commits.count / 2 {
            commits.removeFirst(forgotten)
            costs.removeFirst(forgotten)
            forgotten = 0
        }
    }

    /// The commits after `sequence`, or nil when the first of them has been given up.
    func commits(after sequence: SequenceNumber) -> [Commit]? {
        guard let oldest = commits.dropFirst(forgotten).first?.sequence, oldest <= sequence.next else { return nil }
        let start = forgotten + Int(sequence.next.rawValue - oldest.rawValue)
        return Array(commits[start..<min(start + Self.maximumCount, commits.count)])
    }

    /// How many commits are given at a time.
    private static let maximumCount = 256

    /// About the memory that a commit takes.
    private static func cost(of commit: Commit) -> Int {
        commit.changes.reduce(128) { sum, change in
            sum + 512 + (change.before?.fieldsJSON.count ?? 0) + (change.after?.fieldsJSON.count ?? 0)
        }
    }
}
