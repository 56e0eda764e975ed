internal import DocumentModel
internal import DocumentStore
internal import Synchronization
internal import UTF8Text

/// The commit log of a database in the engine, which several servers write, and its feed on this server.
///
/// Commits are in the order of their sequence numbers, without gaps, on every server: no commit gets a number before the one before it is
/// visible. So the commits after a number that can be read are all that there are. The feed follows the log as it is told of commits by
/// this server, by notifications of the engine, or by polling (``CommitTailer``).
///
/// Each look at the log begins with the last commit that was published. When that is gone or has another time, the engine has lost
/// commits in a fail-over, or was restored, and their numbers may have been given again. All readers of the feed end with an error; their
/// clients resume, and are told that the history was replaced.
actor CommitLog {
    /// The state that is read without waiting.
    private final class Shared: Sendable {
        /// The oldest retained commit that is known.
        let oldest: Mutex<SequenceNumber>
        /// The number of times that the history was replaced.
        let generation = Atomic(0)

        init(oldest: SequenceNumber) {
            self.oldest = Mutex(oldest)
        }
    }

    /// The feed.
    nonisolated let feed: ChangeFeed
    /// The number of the database.
    nonisolated let database: Int64
    private nonisolated let engine: Engine
    private nonisolated let shared: Shared
    private var isCatchingUp = false
    /// True if there may be more commits than the look in progress finds.
    private var mustLookAgain = false

    /// - Parameters:
    ///   - position: The position of the log.
    ///   - database: The number of the database.
    init(at position: StorePosition, _ database: Int64, _ engine: Engine) {
        let shared = Shared(oldest: position.oldestRetained)
        feed = ChangeFeed(
            last: position.lastSequence,
            lastTime: position.lastCommitTime,
            database: position.database,
            epoch: position.epoch,
            maximumBytes: engine.configuration.recentBytes,
            stored: ChangeFeed.StoredCommits {
                shared.oldest.withLock { $0 }
            } read: { after, last throws(StatusError) in
                let commits = try await engine.feed.read { connection throws(StatusError) in
                    try LogPage(connection, database, from: after.next, through: last).commits
                }
                guard commits.first?.sequence == after.next else { throw Self.notRetained(after: after) }
                return commits
            }
        )
        self.shared = shared
        self.database = database
        self.engine = engine
    }

    /// Returns a position that includes every commit that any server has acknowledged before the call.
    nonisolated func safePosition() async throws(StatusError) -> StorePosition {
        let (position, database) = (feed.position, database)
        let settled = try await engine.feed.read { connection throws(StatusError) in
            try LogPosition(connection, database)
        }
        feed.willApply(through: settled.last)
        shared.oldest.withLock { $0 = max($0, settled.oldest) }
        if feed.position.lastSequence != settled.last { Task { await catchUp() } }
        return StorePosition(
            database: position.database,
            epoch: position.epoch,
            lastSequence: settled.last,
            lastCommitTime: settled.time,
            oldestRetained: min(settled.oldest, settled.last.next)
        )
    }

    /// Returns the commits after a sequence number, as ``DocumentStore/commits(after:)`` does.
    nonisolated func commits(after sequence: SequenceNumber) -> CommitSequence {
        let generation = shared.generation.load(ordering: .acquiring)
        return CommitSequence(after: sequence) { [self] position in
            isCurrent(generation) && isRetained(position.next) ? feed.commitsInMemory(after: position) : []
        } source: { [self] position throws(StatusError) in
            // Announces what other servers have committed.
            if position > feed.position.lastSequence { _ = try await safePosition() }
            guard isCurrent(generation) else { throw Self.replaced }
            guard isRetained(position.next) else { throw Self.notRetained(after: position) }
            do throws(StatusError) {
                let commits = try await feed.commits(after: position)
                guard isCurrent(generation) else { throw Self.replaced }
                return commits
            } catch {
                guard isCurrent(generation) else { throw Self.replaced }
                throw error
            }
        }
    }

    private nonisolated func isCurrent(_ generation: Int) -> Bool {
        shared.generation.load(ordering: .acquiring) == generation
    }

    /// Returns whether a commit, or one that is to come, is retained as far as is known. Its row may be there a little longer.
    private nonisolated func isRetained(_ sequence: SequenceNumber) -> Bool {
        shared.oldest.withLock { $0 <= sequence }
    }

    private static func notRetained(after sequence: SequenceNumber) -> StatusError {
        StatusError(
            .outOfRange,
            "The commits after position \(sequence) are no longer retained. Read the documents again and watch from there."
        )
    }

    private static let replaced = StatusError(
        .unavailable,
        "The history of the database was replaced, for example by a fail-over of the engine. Resume from the last position, or read again."
    )
}

// MARK: - Following

extension CommitLog {
    /// Publishes commits that this server has made.
    func didCommit(_ outcome: CommitTransaction.Outcome) {
        guard let first = outcome.commits.first, let last = outcome.commits.last else { return }
        let known = feed.position
        feed.willApply(through: last.sequence)
        if known.lastSequence == outcome.previous.sequence, known.lastCommitTime == outcome.previous.time {
            feed.publish(outcome.commits)
        } else if known.lastSequence < first.sequence || known.lastSequence > last.sequence {
            Task { await catchUp() }
        } else {
            // Those that are known were read from the engine meanwhile.
            publish(outcome.commits)
        }
    }

    /// Publishes the commits that other servers have made.
    func catchUp() async {
        mustLookAgain = true
        guard !isCatchingUp else { return }
        isCatchingUp = true
        defer { isCatchingUp = false }
        while mustLookAgain {
            mustLookAgain = false
            let (known, database) = (feed.position, database)
            // The next look follows soon, and watchers are better late than ended.
            guard
                let page = try? await engine.feed.read({ connection throws(StatusError) in
                    try LogPage(connection, database, from: known.lastSequence, through: nil)
                })
            else { return }
            guard known.lastSequence == .zero || page.commits.first?.time == known.lastCommitTime else {
                return restart(at: page.position)
            }
            let rest = page.commits.filter { $0.sequence > known.lastSequence }
            guard rest.first.map({ $0.sequence == known.lastSequence.next }) ?? true else { return restart(at: page.position) }
            publish(rest)
            shared.oldest.withLock { $0 = max($0, page.position.oldest) }
            if let last = rest.last, last.sequence < page.position.last { mustLookAgain = true }
        }
    }

    /// Publishes those of some commits that are not published yet.
    private func publish(_ commits: [Commit]) {
        let last = feed.position.lastSequence
        let rest = commits.filter { $0.sequence > last }
        guard let first = rest.first, first.sequence == last.next else { return }
        if let newest = rest.last { feed.willApply(through: newest.sequence) }
        feed.publish(rest)
    }

    private func restart(at position: LogPosition) {
        shared.generation.add(1, ordering: .acquiringAndReleasing)
        shared.oldest.withLock { $0 = position.oldest }
        feed.restart(after: position.last, time: position.time)
    }
}
