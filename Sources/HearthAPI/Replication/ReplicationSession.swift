import Concurrency
import Cryptography
package import DocumentModel
package import DocumentStore
package import Replication
import Synchronization

/// The stream from a primary to a standby: first what the standby lacks, then every commit as it is made, with a heartbeat at least once
/// a second.
///
/// Nothing is kept for the standby. One that reads slowly delays nobody, and gets a snapshot once it has fallen out of the journal.
package final class ReplicationSession: Sendable {
    /// Sends bytes, and waits until the standby has taken most of them.
    package typealias Send = ([UInt8]) async throws -> Void

    private let request: ReplicationRequest
    private let context: ServiceContext
    private let databases: DatabaseRegistry
    private let replication: any HostReplication
    private let state = Mutex(State())

    private struct State {
        var end: OutgoingWatchFrame.EndReason?
        var isEnded = false
        var waiter: Waiter?
    }

    /// The maximum time between two heartbeats.
    private static let heartbeatInterval = Duration.milliseconds(500)
    /// The time between two checks of the list of databases, and of the files of those that are open.
    private static let listInterval = Duration.seconds(1)
    /// The number of these checks after which the files of closed databases are checked, too.
    private static let closedFilesFactor = 10
    /// The time for which the stream goes on while the server stops, for the commits of the calls in progress.
    private static let shutdownTime = Duration.seconds(7)
    /// The time after which a database is tried again that could not be opened.
    private static let retryTime = Duration.seconds(30)

    /// Opens a stream.
    ///
    /// - Throws: `.permissionDenied` for a caller other than an admin; `.failedPrecondition` on a standby, or if the driver does not
    ///   replicate.
    package init(_ request: ReplicationRequest, in context: ServiceContext) throws(StatusError) {
        try context.authorize(.admin)
        try context.caller.requireAccessToDatabase()
        if let standby = context.server.standby {
            throw StatusError(
                .failedPrecondition,
                "This server is a standby itself, and is not followed. Follow the primary, \(standby.primary)."
            )
        }
        (databases, replication) = try context.replicatedDatabases
        self.request = request
        self.context = context
    }

    /// Ends the stream as soon as possible. May be called from any task; only the first reason counts.
    ///
    /// - Parameter reason: The reason to tell the standby; `nil` if it has disconnected.
    package func end(_ reason: OutgoingWatchFrame.EndReason?) {
        let waiter = state.withLock { state -> Waiter? in
            if !state.isEnded { (state.isEnded, state.end) = (true, reason) }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    private var isEnded: Bool { state.withLock(\.isEnded) || Task.isCancelled }

    /// Sends messages until the stream is ended.
    ///
    /// - Parameter isIdle: Returns whether no call and no other stream is in progress, so that no commit follows while the server stops.
    package func run(_ send: Send, untilIdle isIdle: () -> Bool) async throws {
        let activity = context.server.activity
        activity.adjustStandbyCount(by: 1)
        defer { activity.adjustStandbyCount(by: -1) }
        do {
            var progress = Progress(request)
            let hello = ReplicationMessage.Hello(
                serverVersion: ServerDescription.version,
                defaultDatabase: databases.defaultID
            )
            try await sendMessage(.hello(hello), send)
            while !isEnded {
                try await sendRound(&progress, send)
                await wait(after: progress.sent)
            }
            guard let reason = state.withLock(\.end) else { return }
            if reason == .shutdown { try await finish(&progress, send, isIdle) }
            try await sendMessage(.end(reason.rawValue), send)
        } catch let error as StatusError where error.code != .cancelled {
            // The standby logs it, and tries again.
            try await sendMessage(.end(error.message), send)
            throw error
        }
    }

    /// Sends the commits of the calls in progress while the server stops, and a heartbeat that says that these were all.
    private func finish(_ progress: inout Progress, _ send: Send, _ isIdle: () -> Bool) async throws {
        let end = ContinuousClock.now + Self.shutdownTime
        progress.startsSnapshots = false
        state.withLock { $0.isEnded = false }
        while !isIdle(), ContinuousClock.now < end {
            try await sendRound(&progress, send)
            try await Task.sleep(for: .milliseconds(20))
        }
        progress.lastHeartbeat = nil
        try await sendRound(&progress, send)
    }

    /// Sends what was committed before the round to all databases, and a heartbeat that says so.
    private func sendRound(_ progress: inout Progress, _ send: Send) async throws {
        let start = ContinuousClock.now
        let time = Timestamp.current()
        let openings = await databases.openings
        let isListDue = progress.lastList.map { start - $0 >= Self.listInterval } ?? true
        // Databases may be new, and closed again.
        if isListDue || progress.openingCount != openings.count {
            let all = try await databases.host.databases()
            if progress.update(all) { try await sendMessage(.databases(all), send) }
            progress.openingCount = openings.count
        }
        var positions = [try await sendCommits(of: nil, in: databases.host.defaultStore, &progress, send)]
        let open = await databases.openDatabases
        for database in open where !isEnded && progress.follows(database.id) {
            guard progress.needs(database.id, at: database.position) else { continue }
            positions.append(try await sendAdditional(database.id, &progress, send))
        }
        let openIDs = Set(open.map(\.id))
        for id in progress.all where !isEnded && !openIDs.contains(id) && progress.follows(id) {
            do {
                if try await progress.isCurrent(id, openedAt: openings.last[id] ?? 0, replication) { continue }
                positions.append(try await sendAdditional(id, &progress, send))
            } catch let error as StatusError where error.code != .cancelled {
                // It was deleted, or cannot be read: that does not hold up the others.
                positions.append(nil)
            }
        }
        guard !isEnded else { return }
        if isListDue {
            progress.lastList = start
            let includesClosed = progress.listCount.isMultiple(of: Self.closedFilesFactor)
            progress.listCount += 1
            let ids = includesClosed ? progress.all : progress.all.filter(openIDs.contains)
            try await sendFiles(of: ids, &progress, send)
        }
        // A heartbeat for each round would cost more than the commits of a busy primary.
        guard progress.lastHeartbeat.map({ start - $0 >= Self.heartbeatInterval }) ?? true else { return }
        let isComplete = !positions.contains { $0 == nil }
        try await sendHeartbeat(&progress, at: start, time, isComplete: isComplete, positions.compactMap(\.self), send)
    }

    private func sendHeartbeat(
        _ progress: inout Progress,
        at start: ContinuousClock.Instant,
        _ time: Timestamp,
        isComplete: Bool,
        _ positions: [ReplicationMessage.Position],
        _ send: Send
    ) async throws {
        progress.lastHeartbeat = .now
        let heartbeat = ReplicationMessage.Heartbeat(
            elapsed: start - progress.start,
            time: time,
            isComplete: isComplete,
            positions: positions
        )
        try await sendMessage(.heartbeat(heartbeat), send)
    }

    private func sendAdditional(
        _ id: DatabaseID,
        _ progress: inout Progress,
        _ send: Send
    ) async throws -> ReplicationMessage.Position? {
        guard progress.retryTimes[id].map({ $0 <= .now }) ?? true else { return nil }
        let lease: DatabaseLease
        do throws(StatusError) {
            lease = try await databases.lease(id, exceedingLimit: true)
            progress.retryTimes[id] = nil
        } catch {
            // One that cannot be opened, or was deleted, does not hold up the others.
            guard error.code != .cancelled else { throw error }
            progress.retryTimes[id] = .now + Self.retryTime
            return nil
        }
        defer { withExtendedLifetime(lease) {} }
        guard let store = lease.database.store else { return nil }
        return try await sendCommits(of: id, in: store, &progress, send)
    }

    /// Sends the commits of a database up to its position, or a snapshot. Returns the position.
    private func sendCommits(
        of id: DatabaseID?,
        in store: any DocumentStore,
        _ progress: inout Progress,
        _ send: Send
    ) async throws -> ReplicationMessage.Position? {
        let position = try await store.safePosition()
        let epoch = position.epoch
        if progress.epochs[id] != epoch {
            guard progress.startsSnapshots else { return nil }
            let known = progress.epochs[id] == nil ? progress.known(id) : nil
            let outcome = try await outcome(for: known, position, in: store)
            progress.epochs[id] = epoch
            progress.sent[id] = outcome == .commits ? known?.sequence : nil
            guard let branch = position.branch else { throw StatusError(.internal, "The epoch of a database is invalid.") }
            let head = ReplicationMessage.DatabaseHead(
                database: id,
                branch: branch,
                lastSequence: position.lastSequence,
                outcome: outcome
            )
            try await sendMessage(.head(head), send)
            if outcome == .snapshot { progress.sent[id] = try await sendSnapshot(of: id, in: store, &progress, send) }
        }
        guard var sent = progress.sent[id] else { return nil }
        while sent < position.lastSequence, !isEnded {
            guard let commits = try await store.commits(after: sent).firstBatch() else { return nil }
            var bytes: [UInt8] = []
            for commit in commits { ReplicationMessage.commit(id, commit).append(to: &bytes) }
            try await send(bytes)
            sent = commits.last?.sequence ?? sent
            progress.sent[id] = sent
        }
        return ReplicationMessage.Position(database: id, sequence: position.lastSequence)
    }

    /// Returns what a standby gets of a database.
    private func outcome(
        for state: ReplicationRequest.State?,
        _ position: StorePosition,
        in store: any DocumentStore
    ) async throws(StatusError) -> ReplicationMessage.DatabaseHead.Outcome {
        guard let state else { return .snapshot }
        guard state.epoch.description == position.epoch else { return .otherEpoch }
        guard state.sequence <= position.lastSequence else { return .ahead }
        guard position.canResume(after: state.sequence) else { return .expired }
        if let checksum = state.checksum, position.oldestRetained <= state.sequence, state.sequence > .zero {
            let commit = try await store.commits(after: state.sequence.previous).firstBatch()?.first
            guard let commit, ReplicationMessage.checksum(of: commit) == checksum else { return .different }
        }
        return .commits
    }

    /// Sends a snapshot, with heartbeats in between. Returns its last commit.
    private func sendSnapshot(
        of id: DatabaseID?,
        in store: any DocumentStore,
        _ progress: inout Progress,
        _ send: Send
    ) async throws -> SequenceNumber? {
        let snapshot = try await replication.snapshot(of: store)
        while !isEnded, let parts = try await snapshot.next() {
            var bytes: [UInt8] = []
            for part in parts { ReplicationMessage.snapshotPart(part).append(to: &bytes) }
            try await send(bytes)
            if progress.lastHeartbeat.map({ .now - $0 >= Self.heartbeatInterval }) ?? true {
                try await sendHeartbeat(&progress, at: .now, .current(), isComplete: false, [], send)
            }
        }
        guard !isEnded else { return nil }
        try await sendMessage(.snapshotEnd(id), send)
        return await snapshot.lastSequence
    }

    /// Sends the files beside the documents that have changed, of the default database and others.
    private func sendFiles(of ids: [DatabaseID], _ progress: inout Progress, _ send: Send) async throws {
        for id in [nil] + ids.map(Optional.some) where progress.sent[id] != nil && !isEnded {
            // One that cannot be read is sent once it can.
            for file in (try? await replication.files(of: id)) ?? [] {
                let digest = Array(SHA256.digest(of: file.bytes))
                guard progress.digests[FileName(database: id, name: file.name)] != digest else { continue }
                try await sendMessage(.file(id, file, digest: digest), send)
                progress.digests[FileName(database: id, name: file.name)] = digest
            }
        }
    }

    private func sendMessage(_ message: ReplicationMessage, _ send: Send) async throws {
        var bytes: [UInt8] = []
        message.append(to: &bytes)
        try await send(bytes)
    }

    /// Waits for a commit that was not sent in a database that is open, the end of the stream, or the time of a heartbeat.
    private func wait(after sent: [DatabaseID?: SequenceNumber]) async {
        let waiter = Waiter()
        let isEnded = state.withLock { state in
            state.waiter = waiter
            return state.isEnded
        }
        if isEnded { return }
        var notifications: [CommitNotification] = []
        let store = databases.host.defaultStore
        notifications.append(store.notify(after: sent[nil] ?? store.position.lastSequence) { waiter.resume() })
        for database in await databases.openDatabases {
            let last = sent[database.id] ?? database.position.lastSequence
            notifications.append(database.notify(after: last) { waiter.resume() })
        }
        let timer = Task {
            try? await Task.sleep(for: Self.heartbeatInterval)
            waiter.resume()
        }
        await waiter.wait()
        timer.cancel()
        for notification in notifications { notification.cancel() }
    }
}

private struct FileName: Hashable {
    let database: DatabaseID?
    let name: String
}

extension ServiceContext {
    /// The databases of the server, and what replicates them.
    ///
    /// - Throws: `.failedPrecondition` if the driver does not replicate.
    var replicatedDatabases: (DatabaseRegistry, any HostReplication) {
        get throws(StatusError) {
            guard let databases, let replication = databases.host.replication else {
                throw StatusError(.failedPrecondition, "The store of this server does not replicate.")
            }
            return (databases, replication)
        }
    }
}

extension StorePosition {
    /// The epoch with its ancestors; `nil` for a store without epochs.
    package var branch: HistoryBranch? {
        Epoch(epoch).map { HistoryBranch(epoch: $0, lineage: lineage) }
    }
}

extension ReplicationSession {
    /// The state of the stream.
    private struct Progress {
        let start = ContinuousClock.now
        /// The additional databases that exist.
        private(set) var all: [DatabaseID] = []
        /// The time of the last check of them, and the number of these.
        var lastList: ContinuousClock.Instant?
        var listCount = 0
        /// The number of databases that had been opened at that time.
        var openingCount: UInt64 = 0
        private var isListed = false
        /// The epochs of the databases that the standby was told about.
        var epochs: [DatabaseID?: String] = [:]
        /// The last commits that were sent, of the databases that are followed.
        var sent: [DatabaseID?: SequenceNumber] = [:]
        /// The last openings of closed databases that have nothing to send.
        private var current: [DatabaseID: UInt64] = [:]
        /// The times at which databases are tried again that could not be opened.
        var retryTimes: [DatabaseID: ContinuousClock.Instant] = [:]
        /// False once the server stops.
        var startsSnapshots = true
        var digests: [FileName: [UInt8]] = [:]
        var lastHeartbeat: ContinuousClock.Instant?
        /// The entries of the request.
        private let requested: [DatabaseID?: ReplicationRequest.Entry]

        init(_ request: ReplicationRequest) {
            requested = Dictionary(request.entries.map { ($0.database, $0) }) { first, _ in first }
        }

        /// Returns the state of a database on the standby; `nil` if it asks for a snapshot.
        func known(_ id: DatabaseID?) -> ReplicationRequest.State? {
            if case .state(let state)? = requested[id]?.content { state } else { nil }
        }

        /// Returns whether the standby wants to know about a database.
        func follows(_ id: DatabaseID) -> Bool {
            if case .suspended? = requested[id]?.content { false } else { true }
        }

        /// Updates the databases. Returns whether the standby has to be told.
        mutating func update(_ databases: [DatabaseID]) -> Bool {
            guard databases != all || !isListed else { return false }
            isListed = true
            for id in all where !databases.contains(id) { (epochs[id], sent[id], current[id]) = (nil, nil, nil) }
            all = databases
            return true
        }

        /// Returns whether an open database has something to send, or has not been looked at.
        func needs(_ id: DatabaseID, at position: StorePosition) -> Bool {
            epochs[id] != position.epoch || sent[id].map { $0 < position.lastSequence } ?? false
        }

        /// Returns whether a closed database has nothing to send.
        ///
        /// - Parameter opening: The number of its last opening: nothing has changed since it was closed again.
        mutating func isCurrent(
            _ id: DatabaseID,
            openedAt opening: UInt64,
            _ replication: any HostReplication
        ) async throws(StatusError) -> Bool {
            if current[id] == opening { return true }
            guard let position = try await replication.closedPosition(of: id) else { return false }
            if epochs[id] == nil, let state = known(id), position.epoch == state.epoch.description,
                position.lastSequence == state.sequence
            {
                epochs[id] = position.epoch
                sent[id] = position.lastSequence
            }
            // One without a sequence number is not followed.
            guard epochs[id] == position.epoch, sent[id].map({ $0 == position.lastSequence }) ?? true else { return false }
            current[id] = opening
            return true
        }
    }
}
