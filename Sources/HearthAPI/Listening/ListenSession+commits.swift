import DocumentModel
import DocumentStore

// The commits after the position of the session.
extension ListenSession {
    /// Applies the next commit to all live targets, and returns its messages.
    nonisolated(nonsending) func applyNextCommit() async throws(StatusError) -> [ListenMessage] {
        do throws(StatusError) {
            if unappliedCommits.isEmpty, let commit = try await nextCommit() { unappliedCommits = [commit] }
            let runs = unappliedCommits.first.map(runsQuery) ?? false
            if runs {
                if !mustCatchUp, await pauseRuns() { return [] }
                try await readAvailableCommits()
                mustCatchUp = unappliedCommits.count >= Self.maximumCommitsPerStep
            }
            let commits = unappliedCommits
            unappliedCommits = []
            guard let last = commits.last else { return [] }
            let start = ContinuousClock.now
            let messages = try await apply(commits, through: last)
            if runs { runBudget.spend(.now - start, at: .now) }
            return messages
        } catch {
            commits = nil
            if !isOfEarlierLog {
                guard try await store.hasLostHistory(after: position.lastSequence, error) else { throw error.ofStream }
            }
            resetAll()
            return []
        }
    }

    /// True if the log was found to be another one since the position of the session.
    var isOfEarlierLog: Bool { store.restartCount != position.restartCount }

    /// Returns the next commit; `nil` when the task is cancelled.
    private nonisolated(nonsending) func nextCommit() async throws(StatusError) -> Commit? {
        guard !isOfEarlierLog else { throw .otherLog }
        var commits = commits ?? store.commits(after: position.lastSequence).makeAsyncIterator()
        let commit = try await commits.next()
        guard !isOfEarlierLog else { throw .otherLog }
        self.commits = commits
        // The log ends when the database is closed.
        guard commit != nil || Task.isCancelled else { throw .endOfLog }
        return commit
    }

    /// Returns whether a commit makes a query run again.
    private func runsQuery(_ commit: Commit) -> Bool {
        targets.values.contains { target in
            target.isRunAtEveryCommit && commit.changes.contains { target.contains($0.path) }
        }
    }

    /// Waits for the next run of the queries with an offset, or a part of that time. Returns whether it did.
    private nonisolated(nonsending) func pauseRuns() async -> Bool {
        let delay = runBudget.delay(at: .now)
        guard delay > .zero else { return false }
        try? await Task.sleep(for: min(delay, .milliseconds(500)))
        return true
    }

    /// Reads the commits that exist, up to a limit, so that a query is run once for all of them.
    private nonisolated(nonsending) func readAvailableCommits() async throws(StatusError) {
        let last = store.position.lastSequence
        var byteCount = unappliedCommits.reduce(0) { $0 + $1.contentByteCount }
        while let sequence = unappliedCommits.last?.sequence, sequence < last, byteCount < Self.maximumCoalescedBytes,
            unappliedCommits.count < Self.maximumCommitsPerStep, let commit = try await commits?.next()
        {
            byteCount += commit.contentByteCount
            unappliedCommits.append(commit)
        }
    }

    /// Applies commits to all live targets, as one.
    private nonisolated(nonsending) func apply(
        _ commits: [Commit],
        through last: Commit
    ) async throws(StatusError) -> [ListenMessage] {
        var merged = ListenChanges()
        var hasEnded = false
        var committed = ChangesByPath(commits.count == 1 ? last : Commit(coalescing: commits) ?? last)
        for id in targets.keys.sorted() {
            guard let live = targets[id], case .live(var state) = live.phase else { continue }
            do throws(StatusError) {
                var access = live.access
                for commit in commits { try await access?.decide(before: commit) }
                let commit = try await live.coalescing(with: commits, from: store) ?? last
                let changes = try await state.apply(commit, from: store)
                try await access?.decide(changes)
                targets[id]?.access = access
                for change in changes {
                    merged.add(change, try await content(after: change, of: live.target, in: &committed), to: live.target)
                }
                targets[id]?.phase = .live(state)
            } catch {
                guard try await endsTarget(error) else { throw error }
                pendingMessages.append(end(id, cause: error))
                hasEnded = true
            }
        }
        setPosition(to: last)
        guard !merged.isEmpty || hasEnded else { return [] }
        return recordTimes(of: merged.messages(at: last.time, withholdsOthers: withholdsOthers)) + snapshotUnlessReset
    }
}

extension StatusError {
    /// The error of a stream whose commit log has ended: by the end of the database's use, unless the task is cancelled.
    static var endOfLog: StatusError {
        Task.isCancelled
            ? StatusError(.cancelled, "The client has cancelled the stream.")
            : StatusError(.unavailable, "The database has been closed.")
    }
}
