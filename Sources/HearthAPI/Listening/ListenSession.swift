package import Concurrency
package import DocumentModel
package import DocumentStore
import Synchronization

/// A stream that listens to several targets: Firestore's `Listen`, without its messages' encoding.
///
/// All targets that are current show the same commit, the position of the session. A commit is applied to all of them before its
/// messages are returned, followed by one ``ListenMessage/snapshot(_:isOfAllTargets:)``. The state of a new target is read as of the position,
/// once all commits that preceded its request have been applied; meanwhile the other targets wait.
///
/// As in ``WatchSession``, nothing is queued for a slow reader, and writers never wait for it. A session that has fallen behind the
/// retained commits sends the state of its targets again, after ``ListenMessage/reset(target:)``.
///
/// A target fails alone, with ``ListenMessage/removed(target:cause:)``. Errors that a retry can cure end the stream: clients open
/// it again, with their resume tokens. A fault of the server, ``StatusCode/internal``, is of either kind, as the clients handle it.
///
/// Used by one task.
package final class ListenSession {
    private let caller: Caller
    /// Makes the access of an end user to a target; `nil` for other callers. The session does not retain the context for them.
    private let makeAccess: ((TargetAccess.Target) -> TargetAccess?)?
    let store: any DocumentStore
    let wakeup: WatchWakeup
    /// The interval of snapshots without changes.
    let heartbeat: Duration
    /// True if a fault of the server ends its target alone, for clients that try the target again.
    private let endsTargetsByFaults: Bool
    /// Interrupts the stream of an end user whenever other rules decide.
    private let rulesObservation: RevocationObservation?
    var targets: [Int32: ListenedTarget] = [:] {
        didSet { targetCount.set(targets.count) }
    }
    private let targetCount: ListenTargetCount
    /// The size of the requests for the targets.
    private var targetByteCount = 0
    /// The targets whose state has not been sent completely, in the order of their requests.
    var startingTargets: ArraySlice<Int32> = []
    /// The last commit that has been applied to all live targets.
    package private(set) var position: StorePosition
    /// The iterator of the commit log; `nil` if its position is unknown.
    var commits: CommitSequence.AsyncIterator?
    /// The next commits, which have been read but not applied.
    var unappliedCommits: [Commit] = []
    /// Messages that precede those of the next step.
    var pendingMessages: [ListenMessage] = []
    /// True if the commit log has told that there is something to read behind the position: a commit, or its end.
    var hasNotification = false
    /// True if a live reader has left commits to the task.
    var hasLeftCommits = false
    /// The latest time of anything that has been sent. Imported documents may be later than the last commit.
    var readTime: Timestamp
    /// The last ID that the session has chosen.
    private var lastAssignedID: Int32 = 0
    /// True if not all commits could be read for the last run of queries with an offset. The next one does not wait, so that the stream
    /// catches up.
    var mustCatchUp = false
    /// The budget for running queries with an offset again.
    var runBudget = WatchRunBudget.standard

    /// The maximum number of targets of a stream.
    private static let maximumTargetCount = 1_000
    /// The maximum size of the requests for the targets of a stream.
    private static let maximumTargetBytes = 4 << 20
    /// The interval of snapshots without changes. Some clients reconnect after two minutes of silence.
    package static let heartbeat = Duration.seconds(30)
    /// The maximum number of commits that are read in one step.
    static let maximumCommitsPerStep = 256
    /// The size of the displaced documents of a commit from which on no more are read.
    private static let maximumDisplacedBytes = 16 << 20
    /// The maximum size of changes that are coalesced. A resumed target with more of them is reset.
    static let maximumCoalescedBytes = 16 << 20

    /// Opens a stream without targets.
    ///
    /// - Parameter endsTargetsByFaults: True to end a target alone with ``StatusCode/internal``, rather than the stream.
    package init(in context: ServiceContext, heartbeat: Duration = heartbeat, endsTargetsByFaults: Bool = false) {
        caller = context.caller
        makeAccess = context.decidesAccess ? { context.access(to: $0) } : nil
        targetCount = ListenTargetCount(in: context.server.activity)
        store = context.streamStore
        position = store.position
        // Clients ignore a snapshot that is not later than 1970.
        readTime = max(position.lastCommitTime ?? .minimum, .afterEpoch)
        let wakeup = WatchWakeup(heartbeat: heartbeat, timeout: nil)
        self.wakeup = wakeup
        self.heartbeat = heartbeat
        self.endsTargetsByFaults = endsTargetsByFaults
        rulesObservation = context.caller.isEndUser ? context.rules.onChange { wakeup.recordRulesChange() } : nil
    }
}

// Requests.
extension ListenSession {
    /// Returns whether the stream has a target with an ID.
    package func hasTarget(_ id: Int32) -> Bool {
        targets[id] != nil
    }

    /// Adds a target, whose state follows. The target with the ID 0 gets another one.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the stream has a target with this ID, which ends the stream.
    package func add(_ requested: ListenTarget) throws(StatusError) -> [ListenMessage] {
        var target = requested
        if target.id == 0 { target.id = nextID() }
        guard !hasTarget(target.id) else { throw .duplicateTarget(target.id) }
        do throws(StatusError) {
            guard targets.count < Self.maximumTargetCount else {
                throw StatusError(.resourceExhausted, "The stream has \(targets.count) targets, the maximum.")
            }
            guard targetByteCount + target.byteCount <= Self.maximumTargetBytes else {
                throw StatusError(.resourceExhausted, "The targets of the stream exceed \(Self.maximumTargetBytes >> 20) MiB.")
            }
            try target.requireAccess(for: caller)
        } catch {
            return [.removed(target: target.id, cause: error)]
        }
        targets[target.id] = ListenedTarget(target, access: makeAccess?(target.forRules))
        targetByteCount += target.byteCount
        startingTargets.append(target.id)
        return [.added(target: target.id)]
    }

    /// Removes a target. One that does not exist is ignored: it may have failed just before.
    package func remove(_ id: Int32) -> [ListenMessage] {
        hasTarget(id) ? [end(id, cause: nil)] : []
    }

    private func nextID() -> Int32 {
        repeat { lastAssignedID &+= 1 } while lastAssignedID == 0 || hasTarget(lastAssignedID)
        return lastAssignedID
    }

    /// Returns whether an error ends its target alone.
    nonisolated(nonsending) func endsTarget(_ error: StatusError) async throws(StatusError) -> Bool {
        if isOfTarget(error) { return true }
        // A query lacks an index, unless the commits after the position are no longer retained.
        guard error.code == .failedPrecondition else { return false }
        return try await !store.hasLostHistory(after: position.lastSequence, error)
    }

    /// Returns whether an error always ends its target alone.
    private func isOfTarget(_ error: StatusError) -> Bool {
        error.isOfTarget || error.code == .internal && endsTargetsByFaults
    }

    /// Ends a target.
    func end(_ id: Int32, cause: StatusError?) -> ListenMessage {
        targetByteCount -= targets.removeValue(forKey: id)?.target.byteCount ?? 0
        startingTargets.removeAll { $0 == id }
        return .removed(target: id, cause: cause)
    }
}

// Messages.
extension ListenSession {
    /// True if there are commits to apply before the session waits.
    package var isBehind: Bool {
        startingTargets.isEmpty && hasLiveTarget && position.lastSequence < store.position.lastSequence
    }

    /// Returns the next messages. The result may be empty.
    ///
    /// - Parameters:
    ///   - setWaiter: Called with a waiter before the session waits for a commit; whoever resumes it ends the wait.
    ///   - keepAlive: Called at each heartbeat while targets wait for their state.
    /// - Throws: The error that ends the stream.
    package nonisolated(nonsending) func next(
        orUntil setWaiter: (Waiter) -> Void,
        keepAlive: () async -> Void = {}
    ) async throws(StatusError) -> [ListenMessage] {
        guard !Task.isCancelled else { throw StatusError(.cancelled, "The client has cancelled the stream.") }
        let messages = try await step(setWaiter, keepAlive)
        guard !messages.isEmpty || !pendingMessages.isEmpty else { return [] }
        wakeup.recordSend()
        defer { pendingMessages = [] }
        return pendingMessages + messages
    }

    private nonisolated(nonsending) func step(
        _ setWaiter: (Waiter) -> Void,
        _ keepAlive: () async -> Void
    ) async throws(StatusError) -> [ListenMessage] {
        let messages = try await decideOrAdvance(setWaiter, keepAlive)
        guard !messages.isEmpty, wakeup.takeRulesChange() else { return messages }
        // Changes that were read while the rules changed are sent only if these grant access, too. A target that has just ended
        // cannot be decided again; the client asks for it anew.
        if messages.contains(where: \.endsTarget) { throw StatusError(.unavailable, "The security rules have changed.") }
        let ended = try await decideAgain()
        return ended + messages.compactMap { $0.withoutTargets(outside: targets.keys) }
    }

    private nonisolated(nonsending) func decideOrAdvance(
        _ setWaiter: (Waiter) -> Void,
        _ keepAlive: () async -> Void
    ) async throws(StatusError) -> [ListenMessage] {
        if wakeup.takeRulesChange() || targets.values.contains(where: { $0.access?.isDue == true }) {
            return try await decideAgain()
        }
        if case .heartbeat = wakeup.interruption {
            guard !startingTargets.isEmpty else { return [snapshot] }
            wakeup.recordSend()
            await keepAlive()
        }
        if let id = startingTargets.first {
            if let barrier = targets[id]?.barrier, position.lastSequence < barrier { return try await applyNextCommit() }
            return try await advanceInSeparateTask(id, keepAlive)
        }
        if hasLiveTarget, hasNotification || position.lastSequence < store.position.lastSequence {
            return try await applyNextCommit()
        }
        await wait(setWaiter)
        return []
    }

    /// True if the client may see only documents that are in a target.
    var withholdsOthers: Bool { rulesObservation != nil }

    /// Decides about the access of an end user to all targets again, and ends those to which it has none any more.
    private nonisolated(nonsending) func decideAgain() async throws(StatusError) -> [ListenMessage] {
        var ended: [ListenMessage] = []
        for (id, target) in targets {
            guard var access = target.access else { continue }
            do throws(StatusError) {
                try await access.decide()
                targets[id]?.access = access
            } catch  where isOfTarget(error) {
                ended.append(end(id, cause: error))
            } catch {
                wakeup.recordRulesChange()
                throw error.ofStream
            }
        }
        return ended.isEmpty ? [] : ended + snapshotUnlessReset
    }

    /// Performs the next step of a target in a task of its own: a task keeps the stack memory of its deepest call, that of a query,
    /// and the stream's task lives as long as the stream.
    @inline(never)
    private nonisolated(nonsending) func advanceInSeparateTask(
        _ id: Int32,
        _ keepAlive: () async -> Void
    ) async throws(StatusError) -> [ListenMessage] {
        // Safe: this task waits for the other, so only one task uses the session at a time.
        nonisolated(unsafe) let session = self
        return try await withTaskGroup(of: Result<[ListenMessage], StatusError>?.self) { group in
            group.addTask { await Result { () async throws(StatusError) in try await session.advance(id) } }
            group.addTask { [heartbeat] in await Self.wait(for: heartbeat) }
            while let event = await group.next() {
                if let messages = event {
                    group.cancelAll()
                    return messages
                }
                guard !Task.isCancelled else { continue }
                await keepAlive()
                group.addTask { [heartbeat] in await Self.wait(for: heartbeat) }
            }
            return .success([])
        }.get()
    }

    private static func wait(for duration: Duration) async -> Result<[ListenMessage], StatusError>? {
        try? await Task.sleep(for: duration)
        return nil
    }

    var hasLiveTarget: Bool { targets.values.contains(where: \.isLive) }

    private nonisolated(nonsending) func wait(_ setWaiter: (Waiter) -> Void) async {
        commits = nil
        let isNotified = NotificationFlag()
        var notification: CommitNotification?
        let sequence = hasLiveTarget ? position.lastSequence : nil
        await wakeup.wait { waiter in
            if let sequence {
                notification = store.notify(after: sequence) {
                    isNotified.set()
                    waiter.resume()
                }
            }
            setWaiter(waiter)
        }
        notification?.cancel()
        hasNotification = isNotified.isSet
    }

    /// The messages that end a change of some targets: none while targets are void, of which the client would show a part.
    var snapshotUnlessReset: [ListenMessage] {
        startingTargets.contains { targets[$0]?.isReset == true } ? [] : [snapshot]
    }

    private var snapshot: ListenMessage {
        .snapshot(listenPosition, isOfAllTargets: startingTargets.isEmpty)
    }

    /// The position of targets whose state has been sent.
    var listenPosition: ListenPosition {
        ListenPosition(
            readTime: readTime,
            token: ResumeToken(ofListenerAt: position.lastSequence, time, epoch: position.epoch, in: position.database)
        )
    }

    /// The time as of which targets are read.
    var time: Timestamp { position.lastCommitTime ?? .minimum }

    /// Records the update times of messages that are about to be sent, and returns them.
    func recordTimes(of messages: [ListenMessage]) -> [ListenMessage] {
        for case .changed(let document, _, _) in messages { readTime = max(readTime, document.updateTime) }
        return messages
    }

    /// The time of documents that are found missing.
    var missingTime: Timestamp { readTime }

    func setPosition(_ newPosition: StorePosition) {
        position = newPosition
        // It was about a commit that may now be behind the session: reading the log would wait for the next one, and leave the
        // client's requests unanswered meanwhile.
        hasNotification = false
        readTime = max(readTime, time)
    }

    /// Sets the position to a commit that has been applied.
    func setPosition(to commit: Commit) {
        setPosition(
            StorePosition(
                database: position.database,
                epoch: position.epoch,
                lastSequence: commit.sequence,
                lastCommitTime: commit.time,
                oldestRetained: position.oldestRetained,
                restartCount: position.restartCount
            )
        )
    }

    /// Returns the content of a document after a change to a target.
    nonisolated(nonsending) func content(
        after change: OutgoingWatchFrame.Change,
        of target: ListenTarget,
        in committed: inout ChangesByPath
    ) async throws(StatusError) -> ListenChanges.Content {
        switch change.kind {
        case .added, .modified: return ListenChanges.Content(change.document)
        case .deleted: return .missing
        case .removed:
            if let change = committed[change.path] { return ListenChanges.Content(try change.after.map(target.projected)) }
            // Pushed out by the limit of a query.
            guard committed.displacedByteCount < Self.maximumDisplacedBytes else { return .unknown }
            do throws(StatusError) {
                let document = try await store.document(at: change.path, readTime: committed.time)
                committed.displacedByteCount += document?.fieldsJSON.count ?? 0
                return ListenChanges.Content(try document.map(target.projected))
            } catch {
                // A damaged document that has left the target does not end it.
                guard error.code == .dataLoss else { throw error }
                return .unknown
            }
        }
    }

    /// Voids what has been sent for all targets, and sends their state as of the last commit.
    func resetAll() {
        commits = nil
        unappliedCommits = []
        let live = targets.values.filter(\.isLive).map(\.target.id).sorted()
        for (id, target) in targets where target.hasSentState {
            targets[id]?.restart()
            pendingMessages.append(.reset(target: id))
        }
        startingTargets = live + startingTargets
    }
}

/// The changes of a commit by path, for many look-ups.
struct ChangesByPath {
    private let commit: Commit
    private var changes: [DocumentPath: CommittedChange]?
    /// The size of the documents that were read since others have displaced them.
    var displacedByteCount = 0

    init(_ commit: Commit) {
        self.commit = commit
    }

    var time: Timestamp { commit.time }

    subscript(path: DocumentPath) -> CommittedChange? {
        mutating get {
            let indexed = changes ?? Dictionary(commit.changes.map { ($0.path, $0) }) { _, last in last }
            changes = indexed
            return indexed[path]
        }
    }
}

/// The fact that a notification has been received.
private final class NotificationFlag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() {
        value.store(true, ordering: .releasing)
    }
}

extension StatusError {
    /// The error for a second target with the same ID.
    package static func duplicateTarget(_ id: Int32) -> StatusError {
        StatusError(.invalidArgument, "The stream has a target with the ID \(id). Remove it, or use another ID.")
    }

    /// True for an error that always ends a target rather than the stream: neither a retry nor the state of all targets can cure it, and
    /// it is not a fault of the server.
    var isOfTarget: Bool {
        switch code {
        case .unavailable, .cancelled, .internal, .notFound, .outOfRange, .failedPrecondition: false
        default: true
        }
    }

    /// The error of a stream: one after which clients try again, if it is neither theirs nor that of a deleted database, NOT_FOUND.
    var ofStream: StatusError {
        switch code {
        case .outOfRange, .failedPrecondition:
            StatusError(.unavailable, "The state of a target cannot be read at present: \(message)", cause: self)
        default: self
        }
    }
}

extension Timestamp {
    /// The first time after that with which clients begin, 1970. Valid: a time in the range of the type.
    fileprivate static let afterEpoch = try! Timestamp(microseconds: 1)
}
