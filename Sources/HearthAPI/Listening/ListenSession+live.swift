package import Concurrency
import DocumentModel
import DocumentStore

// Commits that are applied while the task of the session waits.
extension ListenSession {
    /// True if a ``LiveListenReader`` can read the messages of the next commits, whether or not they exist. After one that it had to
    /// leave to the task, the task applies all others that exist.
    package var canWaitLive: Bool {
        guard startingTargets.isEmpty, hasLiveTarget, pendingMessages.isEmpty, unappliedCommits.isEmpty, !hasNotification,
            targets.count <= Self.maximumLiveTargets, !Task.isCancelled
        else { return false }
        return !hasLeftCommits || position.lastSequence >= store.position.lastSequence
    }

    /// Lets a live reader take the messages of new commits, until it ends, an interruption is pending or the task is cancelled.
    ///
    /// - Parameters:
    ///   - setWaiter: Called with a waiter before the session waits; whoever resumes it ends the wait.
    ///   - start: Called with the reader, unless an interruption is pending already.
    package nonisolated(nonsending) func waitLive(
        orUntil setWaiter: (Waiter) -> Void,
        _ start: (LiveListenReader) -> Void
    ) async {
        commits = nil
        hasLeftCommits = false
        var live: LiveListenReader?
        await wakeup.wait { waiter in
            let reader = LiveListenReader(self, waiter)
            live = reader
            setWaiter(waiter)
            start(reader)
        }
        live?.end()
    }

    /// Leaves the next commits, or the end of the log, to the task.
    func leaveCommits() {
        hasNotification = true
        hasLeftCommits = true
    }

    /// Returns the messages of the next small commit in memory that affects a target; `nil` if there is none among the next few, or if
    /// the task must continue.
    func nextInMemory() -> [ListenMessage]? {
        for _ in 0..<Self.maximumLiveCommits {
            guard let messages = applyCommitInMemory() else { return nil }
            guard messages.isEmpty else {
                wakeup.recordSend()
                return messages
            }
        }
        return nil
    }

    /// The maximum number of targets of a session whose commits are applied without its task.
    private static let maximumLiveTargets = 100
    /// The maximum number of commits that are applied at a time without the session's task.
    static let maximumLiveCommits = 16
    /// The maximum size of a commit that is applied without the session's task, times the number of targets that it may change.
    private static let maximumLiveBytes = 32 << 10

    /// Applies the next commit if it is in memory, small enough and requires no read. Otherwise, and if an interruption is pending,
    /// returns `nil` and changes nothing.
    private func applyCommitInMemory() -> [ListenMessage]? {
        guard !isOfEarlierLog else { return nil }
        var commits = commits ?? store.commits(after: position.lastSequence).makeAsyncIterator()
        guard let commit = commits.nextInMemory(), !commit.isLarger(than: Self.maximumLiveBytes),
            let affected = targetsToApply(commit)
        else { return nil }
        var merged = ListenChanges()
        var committed = ChangesByPath(commit)
        var states: [(id: Int32, state: ListenedTarget.State)] = []
        for target in affected {
            guard case .live(var state) = target.phase, let changes = try? state.apply(commit) else { return nil }
            for change in changes {
                guard let content = contentInMemory(after: change, of: target.target, in: &committed) else { return nil }
                merged.add(change, content, to: target.target)
            }
            states.append((target.target.id, state))
        }
        // After the commit has been read: other rules may decide about it.
        guard wakeup.interruption == nil, !isOfEarlierLog else { return nil }
        self.commits = commits
        for (id, state) in states { targets[id]?.phase = .live(state) }
        setPosition(to: commit)
        guard !merged.isEmpty else { return [] }
        return recordTimes(of: merged.messages(at: commit.time, withholdsOthers: withholdsOthers)) + snapshotUnlessReset
    }

    /// Returns the targets that a commit may change, in the order of their IDs; `nil` if it cannot be applied without reads, or is large
    /// for their number. The states of other targets do not depend on it.
    private func targetsToApply(_ commit: Commit) -> [ListenedTarget]? {
        var affected: [ListenedTarget] = []
        for target in targets.values {
            if target.access?.isAffected(by: commit) == true { return nil }
            guard commit.changes.contains(where: { target.contains($0.path) }) else { continue }
            guard target.access?.isOfDocuments != true, target.hasBeforeImages(commit) else { return nil }
            affected.append(target)
        }
        guard affected.count > 1 else { return affected }
        guard !commit.isLarger(than: Self.maximumLiveBytes / affected.count) else { return nil }
        return affected.sorted { $0.target.id < $1.target.id }
    }

    /// Returns the content of a document after a change to a target; `nil` if it has to be read, or cannot be.
    private func contentInMemory(
        after change: OutgoingWatchFrame.Change,
        of target: ListenTarget,
        in committed: inout ChangesByPath
    ) -> ListenChanges.Content? {
        switch change.kind {
        case .added, .modified: ListenChanges.Content(change.document)
        case .deleted: .missing
        case .removed: committed[change.path].flatMap { try? ListenChanges.Content($0.after.map(target.projected)) }
        }
    }
}

// Commits that were applied to another session.
extension ListenSession {
    /// The position of a session whose targets are all live.
    var livePosition: LiveListenPosition {
        LiveListenPosition(
            sequence: position.lastSequence,
            database: position.database,
            epoch: position.epoch,
            time: position.lastCommitTime,
            readTime: readTime,
            targets: targets.values.map(\.target),
            withholdsOthers: withholdsOthers
        )
    }

    /// Advances as another session has, unless an interruption is pending. Returns whether it did.
    ///
    /// - Parameter sends: True if there are messages to send for it.
    func advance(from start: LiveListenPosition, to end: LiveListenPosition, sends: Bool) -> Bool {
        guard position.lastSequence == start.sequence, position.epoch == start.epoch, position.database == start.database,
            readTime == start.readTime, withholdsOthers == start.withholdsOthers, targets.count == start.targets.count
        else { return false }
        for other in start.targets {
            guard let target = targets[other.id], target.isLive, target.access?.isDependent != true,
                target.target.hasSameMessages(as: other)
            else { return false }
        }
        guard sends ? wakeup.recordSendUnlessInterrupted() : wakeup.interruption == nil else { return false }
        // The states of targets without an order hold nothing that is compared with later commits, and those of others have not
        // changed: the other session could not have applied the commits in memory.
        commits = nil
        setPosition(
            StorePosition(
                database: position.database,
                epoch: position.epoch,
                lastSequence: end.sequence,
                lastCommitTime: end.time,
                oldestRetained: position.oldestRetained,
                restartCount: position.restartCount
            )
        )
        readTime = max(readTime, end.readTime)
        return true
    }

    /// Calls `body` once, as soon as there is a commit to read or the log has ended.
    func notify(_ body: @escaping @Sendable () -> Void) -> CommitNotification {
        store.notify(after: position.lastSequence, body)
    }
}
