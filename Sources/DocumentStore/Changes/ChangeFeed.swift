internal import Concurrency
package import DocumentModel
internal import Synchronization

/// Publishes commits to watchers: recent ones from memory, older ones from the stored commit log.
///
/// A subscriber is only a position, or a waiting continuation, so slow subscribers cost nothing. A commit is published only after it
/// has been stored, so there is no gap between the two.
package final class ChangeFeed: Sendable {
    /// The commits that a store has in its commit log.
    package struct StoredCommits: Sendable {
        /// Returns the oldest retained commit; `nil` when none is retained.
        package let oldest: @Sendable () -> SequenceNumber?
        /// Returns a page of the commits after one, at least one, up to another one.
        ///
        /// - Throws: `.outOfRange` when the first of them is no longer retained.
        package let read: @Sendable (_ after: SequenceNumber, _ last: SequenceNumber) async throws(StatusError) -> [Commit]

        /// Creates a view of the commit log.
        package init(
            oldest: @escaping @Sendable () -> SequenceNumber?,
            read: @escaping @Sendable (_ after: SequenceNumber, _ last: SequenceNumber) async throws(StatusError) -> [Commit]
        ) {
            self.oldest = oldest
            self.read = read
        }
    }

    private let state: Mutex<State>
    private let stored: StoredCommits
    private let epoch: String
    private let database: DatabaseID?
    private let lineage: [AncestorEpoch]
    private let isReplicated: Bool
    /// The number of calls of ``restart(after:time:)``. Changes together with the state, under its lock.
    private let restarts = Atomic(0)

    private struct State {
        /// The last published commit.
        var last: SequenceNumber
        var lastTime: Timestamp?
        /// The last commit whose documents readers may see.
        var applying: SequenceNumber
        /// The latest commits in order, up to the last published one.
        var recent = RecentCommits()
        /// The callbacks of subscribers. Not ``Waiters``, since other layers wait without a task.
        var notifications: [UInt64: Notification] = [:]
        var notificationCount: UInt64 = 0
        var isClosed = false
        /// The error with which waits end; `nil` while later commits can become known.
        var interruption: StatusError?
        let maximumBytes: Int

        /// Removes the notifications whose commit is published, and returns them.
        mutating func removeDueNotifications() -> [Notification] {
            let isDue = { [last] (notification: Notification) in notification.sequence < last }
            // Most subscribers wait for the next commit.
            guard !notifications.values.allSatisfy(isDue) else { return removeAllNotifications() }
            let due = notifications.filter { isDue($0.value) }
            for id in due.keys { notifications[id] = nil }
            return Array(due.values)
        }

        mutating func removeAllNotifications() -> [Notification] {
            defer { notifications.removeAll() }
            return Array(notifications.values)
        }
    }

    /// A call to be made when a commit after a sequence number is published, or the feed is closed.
    private struct Notification {
        let sequence: SequenceNumber
        let body: @Sendable () -> Void
    }

    /// Creates the feed of an open store.
    ///
    /// - Parameters:
    ///   - last: The last commit; zero before the first.
    ///   - lastTime: The time of that commit.
    ///   - maximumBytes: The memory for recent commits.
    package init(
        last: SequenceNumber,
        lastTime: Timestamp?,
        database: DatabaseID?,
        epoch: String,
        lineage: [AncestorEpoch] = [],
        isReplicated: Bool = false,
        maximumBytes: Int,
        stored: StoredCommits
    ) {
        state = Mutex(State(last: last, lastTime: lastTime, applying: last, maximumBytes: maximumBytes))
        self.stored = stored
        self.epoch = epoch
        self.database = database
        self.lineage = lineage
        self.isReplicated = isReplicated
    }

    /// The position of the commit log.
    package var position: StorePosition {
        let (last, time, isBehind, restartCount) = state.withLock { state in
            (state.last, state.lastTime, state.applying > state.last, self.restartCount)
        }
        return StorePosition(
            database: database,
            epoch: epoch,
            lastSequence: last,
            lastCommitTime: time,
            oldestRetained: min(stored.oldest() ?? last.next, last.next),
            lineage: lineage,
            isReplicated: isReplicated,
            restartCount: restartCount,
            isBehind: isBehind
        )
    }

    /// The restart count of ``position``, without the rest of it.
    package var restartCount: Int { restarts.load(ordering: .acquiring) }

    /// Returns a position that includes every commit whose documents a reader may have seen.
    package func safePosition() async throws(StatusError) -> StorePosition {
        let applying = state.withLock { $0.applying }
        while true {
            let position = position
            guard position.lastSequence < applying else { return position }
            guard !Task.isCancelled else { throw StatusError(.cancelled, "The task was cancelled.") }
            if let interruption = state.withLock(\.interruption) { throw interruption }
            await wait(after: applying.previous)
        }
    }

    /// Announces that the documents of the commits up to `sequence` are about to become visible, or are visible already.
    package func willApply(through sequence: SequenceNumber) {
        state.withLock { $0.applying = max($0.applying, sequence) }
    }

    /// Publishes durable commits whose documents readers get, in order and without gaps.
    package func publish(_ commits: [Commit]) {
        let notifications = state.withLock { state in
            for commit in commits { state.recent.append(commit, maximumBytes: state.maximumBytes) }
            if let last = commits.last {
                state.last = last.sequence
                state.lastTime = last.time
            }
            return state.removeDueNotifications()
        }
        for notification in notifications { notification.body() }
    }

    /// Forgets all commits, because the stored log has lost some of them, and continues after another one. All waits end, without commits.
    package func restart(after last: SequenceNumber, time: Timestamp?) {
        let notifications = state.withLock { state in
            state.recent = RecentCommits()
            (state.last, state.lastTime, state.applying) = (last, time, last)
            restarts.add(1, ordering: .releasing)
            return state.removeAllNotifications()
        }
        for notification in notifications { notification.body() }
    }

    /// Ends all waits for commits, and those that follow, with an error, until ``endInterruption()``. The commits remain known.
    package func interrupt(with error: StatusError) {
        let notifications = state.withLock { state in
            state.interruption = error
            return state.removeAllNotifications()
        }
        for notification in notifications { notification.body() }
    }

    /// Lets subscribers wait for commits again.
    package func endInterruption() {
        state.withLock { $0.interruption = nil }
    }

    /// Continues after a later commit, up to which the stored log has all others, unless a subscriber waits for one of them.
    ///
    /// - Returns: False if one waits, so that the commits must be published.
    package func skip(to last: SequenceNumber, time: Timestamp?) -> Bool {
        state.withLock { state in
            guard state.notifications.isEmpty else { return false }
            guard last > state.last else { return true }
            state.recent = RecentCommits()
            (state.last, state.lastTime, state.applying) = (last, time, max(last, state.applying))
            return true
        }
    }

    /// True while a subscriber waits for a commit.
    package var hasSubscribers: Bool { state.withLock { !$0.notifications.isEmpty } }

    /// Ends all subscriptions.
    package func close() {
        let notifications = state.withLock { state in
            state.isClosed = true
            return state.removeAllNotifications()
        }
        for notification in notifications { notification.body() }
    }

    /// Returns a page of the commits after `sequence`, at least one, waiting for one if needed; `nil` if the task is cancelled, or the
    /// feed is closed, or has been restarted since a number of restarts.
    ///
    /// - Throws: `.outOfRange` if `sequence` is in the future; the error of an interruption, instead of waiting; the stored log's.
    package func commits(
        after sequence: SequenceNumber,
        restartCount: Int = 0
    ) async throws(StatusError) -> [Commit]? {
        while !Task.isCancelled, self.restartCount == restartCount {
            switch lookUp(after: sequence) {
            case .commits(let commits): return commits
            case .stored(let last): return try await stored.read(sequence, last)
            case .none: await wait(after: sequence)
            case .closed: return nil
            case .interrupted(let error): throw error
            case .inFuture(let last):
                throw StatusError(
                    .outOfRange,
                    "Position \(sequence) is after the last commit, \(last). Read the documents again and watch from there."
                )
            }
        }
        return nil
    }

    /// Returns a page of the commits after `sequence` when the first of them is in memory; otherwise an empty array.
    package func commitsInMemory(after sequence: SequenceNumber) -> [Commit] {
        if case .commits(let commits) = lookUp(after: sequence) { commits } else { [] }
    }
}

extension ChangeFeed {
    /// Returns whether a document in or below a collection was changed by a commit after `start`, up to and including `end`; `true`
    /// if that is not known.
    package func mayHaveChanged(_ collection: CollectionPath, after start: SequenceNumber, through end: SequenceNumber) -> Bool {
        guard start < end else { return false }
        let commits = commitsInMemory(after: start)
        guard let last = commits.last, last.sequence >= end else { return true }
        let segments = collection.segments
        return commits.contains { commit in commit.changes.contains { $0.path.segments.starts(with: segments) } }
    }

    /// Calls `body` once, as soon as ``commits(after:)`` would return without waiting; immediately if that is already the case.
    package func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        let id = state.withLock { state -> UInt64? in
            if state.isClosed || state.interruption != nil || sequence < state.last || sequence > state.applying { return nil }
            state.notificationCount += 1
            state.notifications[state.notificationCount] = Notification(sequence: sequence, body: body)
            return state.notificationCount
        }
        guard let id else {
            body()
            return CommitNotification {}
        }
        return CommitNotification { [self] in _ = state.withLock { $0.notifications.removeValue(forKey: id) } }
    }

    private enum LookupResult {
        case commits([Commit])
        case stored(last: SequenceNumber)
        case none
        case inFuture(last: SequenceNumber)
        case closed
        case interrupted(StatusError)
    }

    private func lookUp(after sequence: SequenceNumber) -> LookupResult {
        state.withLock { state in
            if state.isClosed { return .closed }
            if sequence > state.applying { return .inFuture(last: state.last) }
            if sequence >= state.last { return state.interruption.map { .interrupted($0) } ?? .none }
            if let commits = state.recent.commits(after: sequence) { return .commits(commits) }
            return .stored(last: state.last)
        }
    }

    /// Waits until a commit after `sequence` has been published, the feed is closed or interrupted, or the task is cancelled.
    private func wait(after sequence: SequenceNumber) async {
        let waiter = Waiter()
        let notification = notify(after: sequence) { waiter.resume() }
        await waiter.wait()
        notification.cancel()
    }
}

/// A queue of the latest commits with a memory limit.
private struct RecentCommits {
    private var commits: [Commit] = []
    private var costs: [Int] = []
    /// The number of evicted commits at the front of the arrays, which are compacted many at a time.
    private var evictedCount = 0
    private var bytes = 0

    mutating func append(_ commit: Commit, maximumBytes: Int) {
        let cost = Self.cost(of: commit)
        commits.append(commit)
        costs.append(cost)
        bytes += cost
        while bytes > maximumBytes, evictedCount < commits.count {
            bytes -= costs[evictedCount]
            evictedCount += 1
        }
        if evictedCount > commits.count / 2 {
            commits.removeFirst(evictedCount)
            costs.removeFirst(evictedCount)
            evictedCount = 0
        }
    }

    /// Returns a page of the commits after `sequence`; `nil` if the first of them has been evicted.
    func commits(after sequence: SequenceNumber) -> [Commit]? {
        guard let oldest = commits.dropFirst(evictedCount).first?.sequence, oldest <= sequence.next else { return nil }
        let start = evictedCount + Int(sequence.next.rawValue - oldest.rawValue)
        return Array(commits[start..<min(start + Self.maximumCount, commits.count)])
    }

    /// The maximum number of commits in a page.
    private static let maximumCount = 256

    /// Returns the approximate memory use of a commit.
    private static func cost(of commit: Commit) -> Int {
        commit.changes.reduce(128) { sum, change in
            sum + 512 + (change.before?.fieldsJSON.count ?? 0) + (change.after?.fieldsJSON.count ?? 0)
        }
    }
}
