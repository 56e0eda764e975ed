import Cryptography
package import DocumentModel
package import DocumentStore
package import Logging
package import Replication
import Synchronization
import UTF8Text

/// A stream of bytes from a primary, in pieces of any size.
package protocol ReplicationStream {
    /// Waits for the next bytes; returns `nil` at the end of the stream.
    mutating func next() async throws(StatusError) -> [UInt8]?
}

/// The following of a primary: receives its commits, and applies them.
///
/// A connection that ends is opened again, after a time that grows with each failure. What does not fit is never applied: the reason is
/// in ``StandbyStatus/failure``, until a connection does fit.
package struct Standby: Sendable {
    /// Opens a stream to the primary.
    package typealias Connect = @Sendable (ReplicationRequest) async throws(StatusError) -> any ReplicationStream

    /// The end of following, after which the server restarts.
    package enum Transition: Sendable {
        /// A snapshot of the default database is to be installed.
        case snapshot
        /// The default database, once it is closed, goes on with the history of the primary, which has branched off.
        case branch(HistoryBranch)
        /// The standby was promoted.
        case promotion
    }

    private let databases: DatabaseRegistry
    private let replication: any HostReplication
    private let status: StandbyStatus
    private let connect: Connect
    private let logger: Logger

    /// The times between the end of a connection and the next one.
    private static let minimumDelay = Duration.milliseconds(100)
    private static let maximumDelay = Duration.seconds(10)
    /// The time without a message after which a connection counts as lost. A primary sends one each second.
    private static let silenceTimeout = Duration.seconds(10)
    /// The time for which an additional database is not followed after an error.
    private static let suspensionTime = Duration.seconds(30)
    /// The time after which a connection is opened again, so that the age is right though clocks run at different speeds: 50 ppm are
    /// 0.2 s in it.
    private static let connectionTime = Duration.seconds(3_600)
    /// The times before a further snapshot of a database that has fallen out of the journal of the primary again, before all commits of
    /// the primary were here. The first one is asked for at once.
    private static let minimumSnapshotDelay = Duration.seconds(30)
    private static let maximumSnapshotDelay = Duration.seconds(1_800)

    /// Returns the time before the next snapshot of a database.
    ///
    /// - Parameter count: The number of snapshots since all commits of the primary were here.
    static func snapshotDelay(after count: Int) -> Duration {
        guard count > 0 else { return .zero }
        return min(minimumSnapshotDelay * (1 << min(count - 1, 10)), maximumSnapshotDelay)
    }

    /// Creates the standby of a server.
    ///
    /// - Throws: `.failedPrecondition` if the driver does not replicate.
    package init(
        of context: ServiceContext,
        _ status: StandbyStatus,
        logger: Logger,
        connect: @escaping Connect
    ) throws(StatusError) {
        (databases, replication) = try context.replicatedDatabases
        self.status = status
        self.connect = connect
        self.logger = logger
    }

    /// Follows the primary until the task is cancelled, or the server has to be restarted.
    package func run() async -> Transition? {
        // If it cannot be read, the server would not have started.
        status.restoreSnapshotsInRow((try? await replication.consecutiveSnapshotCount()) ?? 0)
        let (removals, removal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        removal.yield()
        return await withTaskGroup { group in
            group.addTask {
                for await _ in removals { try? await replication.removeReplaced() }
            }
            let transition = await followUntilTransition { removal.yield() }
            removal.finish()
            group.cancelAll()
            return transition
        }
    }

    /// - Parameter onReplacement: Called when a snapshot has replaced a database.
    private func followUntilTransition(_ onReplacement: () -> Void) async -> Transition? {
        var plan = Plan()
        var delay = Self.minimumDelay
        var lastFailure: String?
        while !Task.isCancelled, !status.isPromoted {
            let progress = status.progressCount
            do throws(StatusError) {
                if let transition = try await followWithTimeout(&plan, onReplacement) { return transition }
                delay = Self.minimumDelay
            } catch {
                if Task.isCancelled || status.isPromoted { break }
                status.didDisconnect(error)
                if lastFailure != error.message {
                    logger.error("Cannot follow the primary; trying again", metadata: ["error": "\(error)"])
                    lastFailure = error.message
                }
                delay = status.progressCount > progress ? Self.minimumDelay : min(delay * 2, Self.maximumDelay)
            }
            await waitForSnapshot(&plan)
            // With jitter, so that several standbys do not come back at the same time.
            try? await Task.sleep(for: delay * Double.random(in: 0.5..<1.5))
        }
        guard status.isPromoted else { return nil }
        let age = status.ageSeconds.map { "\($0)" } ?? "unknown"
        logger.notice(
            "This standby was promoted: it may lack what the primary has committed since",
            metadata: [
                "standby.primary": "\(status.primary)", "standby.age_seconds": "\(age)", "standby.lag_commits": "\(status.lag)",
            ]
        )
        return .promotion
    }

    /// Follows over one connection, which is given up when nothing arrives.
    private func followWithTimeout(
        _ plan: inout Plan,
        _ onReplacement: () -> Void
    ) async throws(StatusError) -> Transition? {
        plan.resumeSuspended()
        let current = plan
        let outcome = await withTaskGroup(of: Result<Outcome, StatusError>?.self) { group in
            group.addTask {
                await Result { () async throws(StatusError) in try await self.follow(current) }
            }
            group.addTask {
                while !status.isPromoted, status.silence < Self.silenceTimeout {
                    guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { break }
                }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard let outcome else {
            if status.isPromoted { return nil }
            throw StatusError(.unavailable, "The primary has sent nothing for \(Self.silenceTimeout.components.seconds) s.")
        }
        switch try outcome.get() {
        case .transition(let transition): return transition
        case .needsSnapshot(let id, let request):
            plan.snapshots[id] = request
            if request.isForExpiredCommits { postponeSnapshot(of: id, &plan) }
        case .installed(let id):
            plan.snapshots[id] = nil
            onReplacement()
        case .noSnapshot(let id): plan.snapshots[id] = nil
        case .suspended(let id, let error):
            plan.suspended[id] = .now + Self.suspensionTime
            status.didFail(id, error)
            logger.error(
                "Cannot follow a database of the primary; the others are followed meanwhile",
                metadata: ["database.id": "\(id)", "error": "\(error)"]
            )
        case .reconnect: break
        }
        return nil
    }

    /// Puts off the snapshot of a database that falls out of the journal of the primary again and again, since each costs the primary a
    /// copy of it, and this server a restart if it is that of the default database.
    private func postponeSnapshot(of id: DatabaseID?, _ plan: inout Plan) {
        let count = status.snapshotsInRow(of: id)
        let delay = Self.snapshotDelay(after: count)
        guard delay > .zero else { return }
        let error = StatusError(
            .resourceExhausted,
            "The primary does not retain its commits long enough: this standby has taken \(count.counted("snapshot")) without reaching "
                + "its last commit, and takes the next one in \(delay.components.seconds) s. Let the primary retain more "
                + "(--keep-hours, --keep-mebibytes), or make the connection faster."
        )
        if let id {
            plan.suspended[id] = .now + delay
            status.didFail(id, error)
        } else {
            plan.snapshotTime = .now + delay
            status.didDisconnect(error)
        }
        logger.error(
            "This standby falls behind again and again; putting off the next snapshot",
            metadata: ["database.id": "\(name(of: id))", "error": "\(error)"]
        )
    }

    /// Waits for the time of the next snapshot of the default database. Nothing can be followed without it.
    private func waitForSnapshot(_ plan: inout Plan) async {
        while let time = plan.snapshotTime, time > .now, !status.isPromoted {
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { break }
        }
        plan.snapshotTime = nil
    }

    /// The end of a connection without an error.
    private enum Outcome {
        case transition(Transition)
        /// A snapshot of a database is to be asked for.
        case needsSnapshot(DatabaseID?, SnapshotRequest)
        /// The snapshot of a database took its place.
        case installed(DatabaseID?)
        /// The snapshot that was asked for is not that of the history for which it was.
        case noSnapshot(DatabaseID?)
        /// An additional database cannot be followed for a while.
        case suspended(DatabaseID, StatusError)
        case reconnect
    }

    /// A snapshot that was asked for.
    private struct SnapshotRequest {
        /// The history of the primary for which it was: another server at its address is not installed over this one.
        let epoch: Epoch
        /// True to keep what it replaces, which may have what no other place has.
        let keepsPrevious: Bool
        /// True if the primary no longer has the commits that would make it unnecessary.
        var isForExpiredCommits = false
    }

    /// The decisions about databases that the next connection depends on.
    private struct Plan {
        var snapshots: [DatabaseID?: SnapshotRequest] = [:]
        /// The databases that are not followed until a time.
        var suspended: [DatabaseID: ContinuousClock.Instant] = [:]
        /// The time before which no snapshot of the default database is asked for.
        var snapshotTime: ContinuousClock.Instant?

        /// True if a suspension is over.
        var isOutdated: Bool { suspended.values.contains { $0 <= .now } }

        mutating func resumeSuspended() {
            suspended = suspended.filter { $0.value > .now }
        }
    }
}

// MARK: - One connection

extension Standby {
    /// The state of a connection.
    private struct Connection {
        /// The time before the request was sent: what the primary says about the time since it was received cannot be longer ago.
        let start: ContinuousClock.Instant
        /// The commits that have been received and not applied, all of one database.
        var pending: [Commit] = []
        var pendingDatabase: DatabaseID?
        /// True once the version of the protocol has been compared.
        var isGreeted = false
        /// True once the default database fits.
        var isAccepted = false
        /// The additional databases of the primary.
        var databases: [DatabaseID]?
        /// The database whose snapshot is being received.
        var snapshot: (database: DatabaseID?, receiver: any SnapshotReceiver)?
    }

    private func follow(_ plan: Plan) async throws(StatusError) -> Outcome {
        let request: ReplicationRequest
        switch try await self.request(plan) {
        case .success(let entries): request = entries
        case .failure(let failure): return .suspended(failure.database, failure.error)
        }
        var connection = Connection(start: .now)
        status.beginWaiting()
        var stream = try await connect(request)
        var parser = ReplicationParser()
        while let bytes = try await stream.next() {
            guard !Task.isCancelled, !status.isPromoted else { break }
            status.didReceive(bytes.count)
            parser.append(bytes)
            while let message = try parser.next() {
                if let outcome = try await receive(message, &connection, plan) { return outcome }
            }
            if let outcome = try await applyPending(&connection) { return outcome }
            status.beginWaiting()
            // The clocks of two machines run at slightly different speeds.
            let isOld = .now - connection.start > Self.connectionTime && parser.isEmpty
            if plan.isOutdated || isOld, connection.snapshot == nil { return .reconnect }
        }
        throw StatusError(.unavailable, "The connection to the primary was lost.")
    }

    /// An error of an additional database.
    private struct DatabaseFailure: Error {
        let database: DatabaseID
        let error: StatusError
    }

    /// Returns the request, with the state of each database here.
    private func request(_ plan: Plan) async throws(StatusError) -> Result<ReplicationRequest, DatabaseFailure> {
        var entries = [await entry(of: nil, in: databases.host.defaultStore, plan)]
        for id in try await databases.host.databases() {
            do throws(StatusError) {
                entries.append(try await additionalEntry(of: id, plan))
            } catch {
                guard error.code != .cancelled else { throw error }
                return .failure(DatabaseFailure(database: id, error: error))
            }
        }
        for entry in entries {
            guard case .state(let state) = entry.content else { continue }
            status.didApply(state.sequence, of: entry.database)
        }
        return .success(ReplicationRequest(entries))
    }

    private func additionalEntry(of id: DatabaseID, _ plan: Plan) async throws(StatusError) -> ReplicationRequest.Entry {
        if plan.suspended[id] != nil { return .init(id, .suspended) }
        if plan.snapshots[id] != nil { return .init(id, .snapshot) }
        if await !databases.isOpen(id), let position = try await replication.closedPosition(of: id),
            let epoch = Epoch(position.epoch)
        {
            return .init(id, .state(.init(epoch: epoch, sequence: position.lastSequence, checksum: nil)))
        }
        let found = try await withStore(of: id) { store throws(StatusError) in await entry(of: id, in: store, plan) }
        // Without a store, it was deleted meanwhile.
        return found ?? .init(id, .suspended)
    }

    private func entry(of id: DatabaseID?, in store: any DocumentStore, _ plan: Plan) async -> ReplicationRequest.Entry {
        let position = store.position
        guard plan.snapshots[id] == nil, let epoch = Epoch(position.epoch) else { return .init(id, .snapshot) }
        var checksum: UInt32?
        if position.lastSequence > .zero, position.oldestRetained <= position.lastSequence,
            let last = try? await store.commits(after: position.lastSequence.previous).firstBatch()?.first
        {
            checksum = ReplicationMessage.checksum(of: last)
        }
        return .init(id, .state(.init(epoch: epoch, sequence: position.lastSequence, checksum: checksum)))
    }

    private func receive(
        _ message: ReplicationMessage,
        _ connection: inout Connection,
        _ plan: Plan
    ) async throws(StatusError) -> Outcome? {
        if case .commit(let id, let commit) = message, connection.isGreeted {
            if connection.pendingDatabase != id, let outcome = try await applyPending(&connection) { return outcome }
            connection.pendingDatabase = id
            connection.pending.append(commit)
            return nil
        }
        if let outcome = try await applyPending(&connection) { return outcome }
        switch message {
        case .hello(let hello):
            try check(hello)
            connection.isGreeted = true
        case _ where !connection.isGreeted: throw Self.unexpected
        case .databases(let all):
            connection.databases = all
            if connection.isAccepted { return try await removeDatabases(except: all) }
        case .head(let head):
            return try await isolating(head.database) { () async throws(StatusError) in
                try await receive(head, &connection, plan)
            }
        case .commit: break
        case .file(let id, let file, let digest):
            return try await isolating(id) { () async throws(StatusError) in
                try await replace(file, digest, of: id, connection)
                return nil
            }
        case .snapshotPart(let part):
            guard let snapshot = connection.snapshot else { throw Self.unexpected }
            return try await isolating(snapshot.database) { () async throws(StatusError) in
                try await snapshot.receiver.write(part)
                return nil
            }
        case .snapshotEnd(let id):
            guard let snapshot = connection.snapshot, snapshot.database == id else { throw Self.unexpected }
            connection.snapshot = nil
            return try await isolating(id) { () async throws(StatusError) in
                try await snapshot.receiver.finish()
                return try await install(id, plan)
            }
        case .heartbeat(let heartbeat):
            let isComplete = plan.suspended.isEmpty
            status.record(heartbeat, madeAt: connection.start + heartbeat.elapsed, isComplete: isComplete)
            if heartbeat.isComplete {
                if status.snapshotsInRow(of: nil) > 0 { try await replication.recordCaughtUp() }
                status.endSnapshotRows(except: Set(plan.suspended.keys))
            }
        case .end(let reason):
            let known = OutgoingWatchFrame.EndReason(rawValue: reason)
            if known == .shutdown { status.primaryDidStop() }
            let code: StatusCode =
                switch known {
                case .revoked?, .unauthenticated?: .unauthenticated
                case nil: .internal
                default: .unavailable
                }
            throw StatusError(code, "The primary has ended the stream (\(Excerpt(reason, maximumBytes: 1_000))).")
        }
        return nil
    }

    /// Does what a message requires for a database. An additional one that fails does not hold up the others.
    private func isolating(
        _ id: DatabaseID?,
        _ body: () async throws(StatusError) -> Outcome?
    ) async throws(StatusError) -> Outcome? {
        do throws(StatusError) {
            return try await body()
        } catch {
            guard let id, error.code != .cancelled, !Task.isCancelled else { throw error }
            return .suspended(id, error)
        }
    }

    private static let unexpected = StatusError(
        .dataLoss,
        "The primary sent messages in a wrong order. Nothing of it was applied."
    )

    private func check(_ hello: ReplicationMessage.Hello) throws(StatusError) {
        try Self.check(hello, defaultDatabase: databases.defaultID)
    }

    private static func check(_ hello: ReplicationMessage.Hello, defaultDatabase: DatabaseID) throws(StatusError) {
        guard hello.version == ReplicationMessage.version else {
            throw StatusError(
                .failedPrecondition,
                "The primary replicates by version \(hello.version) of the protocol, this server by version "
                    + "\(ReplicationMessage.version). Use the same version of Hearth on both."
            )
        }
        guard hello.defaultDatabase == defaultDatabase else {
            throw StatusError(
                .failedPrecondition,
                "The default database of the primary is \(hello.defaultDatabase), that of this server \(defaultDatabase). Start both "
                    + "with the same --project."
            )
        }
    }

    private func applyPending(_ connection: inout Connection) async throws(StatusError) -> Outcome? {
        guard !connection.pending.isEmpty else { return nil }
        let (commits, id) = (connection.pending, connection.pendingDatabase)
        connection.pending = []
        guard connection.isAccepted else { throw Self.unexpected }
        return try await isolating(id) { () async throws(StatusError) in
            let applied: Void? = try await withStore(of: id) { store throws(StatusError) in
                try await replication.apply(commits, to: store)
            }
            guard applied != nil else { throw Self.unexpected }
            if let last = commits.last { status.didApply(last.sequence, of: id) }
            return nil
        }
    }

    /// Calls `body` with the open store of a database; returns `nil` if the database does not exist.
    private func withStore<Result>(
        of id: DatabaseID?,
        _ body: (any DocumentStore) async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result? {
        guard let id else { return try await body(databases.host.defaultStore) }
        let lease = try await databases.lease(id, exceedingLimit: true)
        defer { withExtendedLifetime(lease) {} }
        guard let store = lease.database.store else { return nil }
        return try await body(store)
    }

    private func replace(
        _ file: ReplicatedFile,
        _ digest: [UInt8],
        of id: DatabaseID?,
        _ connection: Connection
    ) async throws(StatusError) {
        guard connection.isAccepted, Array(SHA256.digest(of: file.bytes)) == digest else { throw Self.unexpected }
        // So that a database is not opened for what it has.
        if await replication.has(file, of: id) { return }
        if file.name == APIKeyFile.fileName {
            do throws(StatusError) {
                _ = try APIKeyFile(file.bytes)
            } catch {
                // With damaged keys, this server could not start again.
                logger.error(
                    "The keys of the primary are damaged; this server keeps those that it has",
                    metadata: ["error": "\(error)"]
                )
                return
            }
        }
        let replaced: Void? = try await withStore(of: id) { store throws(StatusError) in
            try await replication.replace(file, of: id, in: store)
        }
        guard replaced != nil else { throw Self.unexpected }
    }

    /// Removes the databases that the primary does not have.
    ///
    /// Those that were followed before were deleted there. Others may be those of a former primary, which no other server has: they are set
    /// aside.
    private func removeDatabases(except all: [DatabaseID]) async throws(StatusError) -> Outcome? {
        let known = Set(all)
        for id in try await databases.host.databases() where !known.contains(id) {
            let outcome = try await isolating(id) { () async throws(StatusError) in
                try await remove(id, wasDeleted: status.hasFollowed(id))
                return nil
            }
            if let outcome { return outcome }
        }
        return nil
    }

    private func remove(_ id: DatabaseID, wasDeleted: Bool) async throws(StatusError) {
        if wasDeleted {
            try await databases.delete(id)
            logger.notice("Removed a database that was deleted on the primary", metadata: ["database.id": "\(id)"])
        } else {
            let replication = replication
            let folder = Mutex("")
            try await databases.replace(id) { () async throws(StatusError) in
                let name = try await replication.setAside(id)
                folder.withLock { $0 = name }
            }
            logger.warning(
                """
                A database does not exist on the primary, and was set aside. Remove the folder unless it has what the primary should have
                """,
                metadata: ["database.id": "\(id)", "file.path": "\(folder.withLock(\.self))"]
            )
        }
        status.remove(id)
    }
}

// MARK: - First snapshot

extension Standby {
    /// Receives a snapshot of the default database of the primary, for a data folder without one.
    package static func receiveFirstSnapshot(
        to receiver: any SnapshotReceiver,
        defaultDatabase: DatabaseID,
        connect: Connect
    ) async throws(StatusError) {
        var stream = try await connect(ReplicationRequest([.init(nil, .snapshot)]))
        var parser = ReplicationParser()
        var hasBegun = false
        while let bytes = try await stream.next() {
            parser.append(bytes)
            while let message = try parser.next() {
                switch message {
                case .hello(let hello): try check(hello, defaultDatabase: defaultDatabase)
                case .head(let head): hasBegun = head.database == nil && head.outcome == .snapshot
                case .snapshotPart(let part):
                    guard hasBegun else { throw unexpected }
                    try await receiver.write(part)
                case .snapshotEnd(let id):
                    guard hasBegun, id == nil else { throw unexpected }
                    return try await receiver.finish()
                case .databases, .heartbeat: break
                case .commit, .file: throw unexpected
                case .end(let reason): throw StatusError(.unavailable, "The primary has ended the stream (\(Excerpt(reason))).")
                }
            }
        }
        throw StatusError(.unavailable, "The connection to the primary was lost.")
    }
}

extension Standby {
    /// Asks a server for the history of its default database, compared with that of another one.
    ///
    /// - Throws: `.unavailable` if it does not answer in time; its error.
    package static func branch(
        of state: ReplicationRequest.State,
        timeout: Duration,
        connect: @escaping Connect
    ) async throws(StatusError) -> HistoryBranch {
        let result = await withTaskGroup(of: Result<HistoryBranch, StatusError>.self) { group in
            group.addTask {
                await Result { () async throws(StatusError) in try await branch(of: state, connect: connect) }
            }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return .failure(StatusError(.unavailable, "The primary does not answer."))
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(StatusError(.cancelled, "The start was cancelled."))
        }
        return try result.get()
    }

    private static func branch(of state: ReplicationRequest.State, connect: Connect) async throws(StatusError) -> HistoryBranch {
        var stream = try await connect(ReplicationRequest([.init(nil, .state(state))]))
        var parser = ReplicationParser()
        while let bytes = try await stream.next() {
            parser.append(bytes)
            while let message = try parser.next() {
                if case .head(let head) = message, head.database == nil { return head.branch }
            }
        }
        throw StatusError(.unavailable, "The connection to the primary was lost.")
    }
}

// MARK: - Histories

extension Standby {
    /// Decides what to do about the state of a database on the primary.
    private func receive(
        _ head: ReplicationMessage.DatabaseHead,
        _ connection: inout Connection,
        _ plan: Plan
    ) async throws(StatusError) -> Outcome? {
        let id = head.database
        guard id == nil || connection.isAccepted || head.outcome != .commits else { throw Self.unexpected }
        switch head.outcome {
        case .commits:
            if id == nil {
                connection.isAccepted = true
                try await replication.recordFollowing(status.primary)
                logger.info("Following the primary", metadata: ["standby.primary": "\(status.primary)"])
                // Not before it is known that this is the right primary.
                if let all = connection.databases { return try await removeDatabases(except: all) }
            }
            if let id { status.didFollow(id) }
            return nil
        case .snapshot:
            guard id == nil || connection.isAccepted else { throw Self.unexpected }
            if let request = plan.snapshots[id] {
                guard request.epoch == head.branch.epoch else { return .noSnapshot(id) }
            } else if try await has(id) {
                // It was created anew on the primary. The next connection compares the histories.
                return .reconnect
            }
            connection.snapshot = (id, try await replication.makeReceiver(of: id))
            return nil
        case .expired:
            logger.notice(
                "The primary no longer retains the commits after the last one of this standby; asking for a snapshot",
                metadata: ["database.id": "\(name(of: id))"]
            )
            let epoch = head.branch.epoch
            return .needsSnapshot(id, SnapshotRequest(epoch: epoch, keepsPrevious: false, isForExpiredCommits: true))
        case .ahead, .different:
            throw StatusError(
                .dataLoss,
                "The commits of \(name(of: id)) on this standby are not those of the primary with the same numbers: nothing is applied. If "
                    + "the primary is the right one, move the data folder of this standby away, and start it with an empty one."
            )
        case .otherEpoch:
            let outcome = try await resolveBranch(head)
            if id == nil { try await replication.recordFollowing(status.primary) }
            return outcome
        }
    }

    /// Returns whether there is a database here.
    private func has(_ id: DatabaseID?) async throws(StatusError) -> Bool {
        guard let id else { return true }
        return try await databases.host.contains(id)
    }

    private func name(of id: DatabaseID?) -> String { "\(id ?? databases.defaultID)" }

    /// Decides what to do about a database whose history has another epoch on the primary.
    private func resolveBranch(_ head: ReplicationMessage.DatabaseHead) async throws(StatusError) -> Outcome {
        try await withStore(of: head.database) { store throws(StatusError) in
            try await resolveBranch(head, in: store)
        } ?? .reconnect
    }

    private func resolveBranch(
        _ head: ReplicationMessage.DatabaseHead,
        in store: any DocumentStore
    ) async throws(StatusError) -> Outcome {
        let (id, position) = (head.database, store.position)
        guard let own = Epoch(position.epoch), let branch = head.branch.lineage.last(where: { $0.epoch == own }) else {
            if position.lineage.contains(where: { $0.epoch == head.branch.epoch }) {
                throw StatusError(
                    .failedPrecondition,
                    "This data folder was promoted after the server that it is told to follow was its primary: nothing is applied. Follow "
                        + "the newer one, or start this server without --follow."
                )
            }
            if let id {
                // One that was followed before was created anew on the primary.
                let keepsPrevious = !status.hasFollowed(id)
                return .needsSnapshot(id, SnapshotRequest(epoch: head.branch.epoch, keepsPrevious: keepsPrevious))
            }
            throw StatusError(
                .failedPrecondition,
                "The data folder of this standby has another history than the primary: nothing is applied. To follow this primary, start "
                    + "with an empty data folder."
            )
        }
        if position.lastSequence <= branch.lastSequence {
            logger.notice(
                "The history of the primary has branched off after the last commit of this standby; going on with the branch",
                metadata: ["database.id": "\(name(of: id))", "store.epoch": "\(head.branch.epoch)"]
            )
            guard let id else { return .transition(.branch(head.branch)) }
            try await databases.replace(id) { [replication] () throws(StatusError) in
                try await replication.beginBranch(head.branch, of: id)
            }
            return .reconnect
        }
        let fileName =
            "\((id.map { "\($0.project.string)-\($0.database.string)" } ?? "default"))-\(own)-after-\(branch.lastSequence)"
        let aside = try await replication.setAsideCommits(
            after: branch.lastSequence,
            of: store,
            named: String(decoding: fileName.utf8.map { $0.isFileNameByte ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        )
        logger.warning(
            """
            This server has commits that the primary does not have, since it was promoted without them. They were set aside in a file, \
            and a snapshot of the primary takes their place
            """,
            metadata: [
                "database.id": "\(name(of: id))", "standby.commits": "\(aside.count)", "file.path": "\(aside.name)",
                "standby.is_complete": "\(aside.isComplete)",
            ]
        )
        return .needsSnapshot(id, SnapshotRequest(epoch: head.branch.epoch, keepsPrevious: !aside.isComplete))
    }

    /// Installs a complete snapshot.
    private func install(_ id: DatabaseID?, _ plan: Plan) async throws(StatusError) -> Outcome? {
        let keepingPrevious = plan.snapshots[id]?.keepsPrevious ?? false
        status.didTakeSnapshot(of: id)
        logger.notice("Received a snapshot of a database", metadata: ["database.id": "\(name(of: id))"])
        guard let id else {
            try await replication.installAtNextStart(keepingPrevious: keepingPrevious)
            return .transition(.snapshot)
        }
        try await databases.replace(id) { [replication] () throws(StatusError) in
            try await replication.install(id, keepingPrevious: keepingPrevious)
        }
        status.didFollow(id)
        // The next connection must not ask for it again.
        return plan.snapshots[id] == nil ? nil : .installed(id)
    }
}

extension UInt8 {
    /// True for bytes that a file name may have on every system.
    fileprivate var isFileNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
