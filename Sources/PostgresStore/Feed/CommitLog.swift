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
/// clients resume, and are told that the history was replaced. While the engine is away for long, readers end, too, instead of waiting;
/// they resume without a loss.
actor CommitLog {
    /// The state that is read without waiting.
    private final class Shared: Sendable {
        /// The oldest retained commit that is known.
        let oldest: Mutex<SequenceNumber>
        /// The times of a loss of which other servers cannot know yet.
        let unrecordedLoss = Mutex<LostHistory.Period?>(nil)
        /// The last commits of views that were ahead of the feed, oldest first.
        let viewAnchors = Mutex<[LogAnchor]>([])

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
    private var isLooking = false
    /// True if there may be a later head than the look in progress finds.
    private var mustLookAtHead = false
    /// True if there may be more commits than the look in progress finds.
    private var mustLookAgain = false
    /// The last commits that were known, oldest first, one of which tells where the history was replaced.
    private var anchors: [LogAnchor]

    /// The number of ``anchors``.
    private static let maximumAnchorCount = 1_000

    /// - Parameters:
    ///   - position: The position of the log.
    ///   - database: The number of the database.
    init(at position: StorePosition, _ database: Int64, _ engine: Engine) {
        let shared = Shared(oldest: position.oldestRetained)
        anchors = LogAnchor(position).map { [$0] } ?? []
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
        if feed.position.lastSequence != settled.last {
            if let time = settled.time { remember(LogAnchor(settled.last, at: time), ofViewAheadOf: position) }
            Task { await look() }
        }
        return StorePosition(
            database: position.database,
            epoch: position.epoch,
            lastSequence: settled.last,
            lastCommitTime: settled.time,
            oldestRetained: min(settled.oldest, settled.last.next),
            restartCount: position.restartCount
        )
    }

    private nonisolated func remember(_ anchor: LogAnchor, ofViewAheadOf position: StorePosition) {
        guard anchor.sequence > position.lastSequence else { return }
        shared.viewAnchors.withLock { anchors in
            guard anchors.last != anchor else { return }
            anchors.append(anchor)
            if anchors.count >= 2 * Self.maximumAnchorCount { anchors.removeFirst(Self.maximumAnchorCount) }
        }
    }

    /// Returns the last commit that a transaction has seen, if its view was ahead of the feed: when the engine loses just what it was
    /// ahead, the feed does not notice.
    nonisolated func anchor(of reads: ReadSet) -> LogAnchor? {
        guard let last = reads.scopes.values.max() else { return nil }
        return shared.viewAnchors.withLock { anchors in anchors.last { $0.sequence == last } }
    }

    /// Returns the commits after a sequence number, as ``DocumentStore/commits(after:)`` does.
    nonisolated func commits(after sequence: SequenceNumber) -> CommitSequence {
        let restartCount = feed.restartCount
        return CommitSequence(after: sequence) { [self] position in
            isCurrent(restartCount) && isRetained(position.next) ? feed.commitsInMemory(after: position) : []
        } source: { [self] position throws(StatusError) in
            // Announces what other servers have committed.
            if position > feed.position.lastSequence { _ = try await safePosition() }
            guard isCurrent(restartCount) else { throw Self.replaced }
            guard isRetained(position.next) else { throw Self.notRetained(after: position) }
            do throws(StatusError) {
                let commits = try await feed.commits(after: position, restartCount: restartCount)
                guard isCurrent(restartCount) else { throw Self.replaced }
                return commits
            } catch {
                guard isCurrent(restartCount) else { throw Self.replaced }
                throw error
            }
        }
    }

    /// The times of a loss that this server has noticed, and of which other servers cannot know yet; `nil` if there is none.
    nonisolated var unrecordedLoss: LostHistory.Period? { shared.unrecordedLoss.withLock { $0 } }

    private nonisolated func isCurrent(_ restartCount: Int) -> Bool { feed.restartCount == restartCount }

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

    private static let away = StatusError(
        .unavailable,
        "The database engine cannot be reached, so that changes are not known. Resume from the last position."
    )

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
            remember(outcome.commits)
        } else if known.lastSequence < first.sequence || known.lastSequence > last.sequence {
            Task { await look() }
        } else {
            // Those that are known were read from the engine meanwhile.
            publish(outcome.commits)
        }
    }

    /// Looks for commits that another server has made for this one.
    nonisolated func willFollow(through sequence: SequenceNumber) {
        feed.willApply(through: sequence)
        Task { await look() }
    }

    /// Looks for the head of the log, and follows it.
    private func look() async {
        mustLookAtHead = true
        guard !isLooking else { return }
        isLooking = true
        defer { isLooking = false }
        while mustLookAtHead {
            mustLookAtHead = false
            let known = (database: database, position: feed.position)
            // The tailer looks again soon.
            let heads = try? await engine.feed.read { connection throws(StatusError) in try LogHead.read([known], connection) }
            if let head = heads?.first { await follow(head) }
        }
    }

    /// Follows the log to a head. The commits up to it are read only if something waits for them.
    func follow(_ head: LogHead) async {
        await recordLoss()
        let known = feed.position
        if !isCatchingUp, head.known == known.lastSequence, head.knownTime == known.lastCommitTime,
            head.position.last > known.lastSequence, feed.skip(to: head.position.last, time: head.position.time)
        {
            shared.oldest.withLock { $0 = max($0, head.position.oldest) }
            if let anchor = LogAnchor(feed.position) { remember(anchor) }
        } else {
            await catchUp()
        }
    }

    /// Publishes the commits that other servers have made. Records a loss that could not be recorded when it was noticed.
    func catchUp() async {
        await recordLoss()
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
                return await restart(at: page.position, after: known)
            }
            let rest = page.commits.filter { $0.sequence > known.lastSequence }
            guard rest.first.map({ $0.sequence == known.lastSequence.next }) ?? true else {
                return await restart(at: page.position, after: known)
            }
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
        remember(rest)
    }

    private func remember(_ commits: [Commit]) {
        for commit in commits.suffix(Self.maximumAnchorCount) { remember(LogAnchor(commit)) }
    }

    private func remember(_ anchor: LogAnchor) {
        anchors.append(anchor)
        if anchors.count >= 2 * Self.maximumAnchorCount { anchors.removeFirst(Self.maximumAnchorCount) }
    }

    /// Continues with the log of an engine that has lost commits. If the engine fails meanwhile, the next look does.
    private func restart(at position: LogPosition, after known: StorePosition) async {
        // Otherwise, the known commit may have been discarded, like all before it.
        if let time = known.lastCommitTime, known.lastSequence >= position.oldest {
            guard let loss = try? await lostPeriod(of: time) else { return }
            shared.unrecordedLoss.withLock { $0 = $0?.union(loss) ?? loss }
            await recordLoss()
        }
        engine.log.didReplaceHistory(of: database)
        shared.oldest.withLock { $0 = position.oldest }
        feed.restart(after: position.last, time: position.time)
        anchors = LogAnchor(feed.position).map { [$0] } ?? []
    }

    /// Returns the times of a loss: those after the last known commit that survived, up to now. The commits that have replaced the lost
    /// ones may have earlier times than these, by the clock of another engine.
    ///
    /// - Parameter time: The time of the last known commit, which was lost.
    private func lostPeriod(of time: Timestamp) async throws(StatusError) -> LostHistory.Period {
        let (database, anchors) = (database, anchors)
        return try await engine.feed.read { connection throws(StatusError) in
            let rows = try connection.execute(
                EngineStatement(
                    """
                    SELECT
                        COALESCE(
                            (
                                SELECT max(c.time) FROM unnest($2::bigint[], $3::bigint[]) AS known (seq, time)
                                JOIN hearth.commits c ON c.db = $1::bigint AND c.seq = known.seq AND c.time = known.time
                            ),
                            (SELECT max(time) FROM hearth.commits WHERE db = $1::bigint AND time <= $4::bigint)
                        ),
                        \(EngineClock.sql)
                    """,
                    .integer(database),
                    .integers(anchors.map { Int64($0.sequence.rawValue) }),
                    .integers(anchors.map(\.time.microseconds)),
                    .integer((anchors.first?.time ?? time).microseconds)
                )
            )
            return LostHistory.Period(after: rows.time(0, 0) ?? .minimum, through: max(rows.time(0, 1) ?? time, time))
        }
    }

    /// Lets all servers know of the loss that is not recorded, if there is one. If that fails, as when the engine is read-only, the next
    /// commits and the reads that it refuses try again.
    private func recordLoss() async {
        guard let loss = unrecordedLoss else { return }
        let record = EngineRecord(.lostHistory, of: database, in: engine)
        do throws(StatusError) {
            _ = try await record.update { bytes throws(StatusError) in
                var history = try LostHistory(bytes)
                let earlier = history
                history.add(loss)
                return history == earlier ? nil : history.encoded
            }
        } catch {
            return
        }
        shared.unrecordedLoss.withLock { if $0 == loss { $0 = nil } }
    }

    /// Ends all readers that wait, or begin to, because the engine has been away for too long.
    nonisolated func interrupt() { feed.interrupt(with: Self.away) }

    /// Lets readers wait again, since the engine has been reached.
    nonisolated func endInterruption() { feed.endInterruption() }
}
