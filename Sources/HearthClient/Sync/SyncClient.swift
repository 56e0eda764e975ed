internal import Concurrency
internal import DocumentModel
internal import Foundation
internal import HearthTransport
internal import SyncEngine
internal import Synchronization

/// The driver of a sync engine: carries out its effects with a connection, and tells it what happens.
///
/// It has a thread of its own, since the engine waits for its cache. Inputs are processed in the order in which they are submitted;
/// their effects are carried out together after the queue has been made durable once, so that many writes share one sync of the disk.
actor SyncClient<Cache: LocalCache>: SyncSession {
    private nonisolated let executor = SerialQueueExecutor(label: "hearth.sync")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let connection: HearthConnection
    private nonisolated let lastID = Atomic<UInt64>(0)
    private let storage: Storage
    private let evictionPolicy: EvictionPolicy?
    // Set by the first job on the executor, before all others, and `nil` again after the termination, which all others check.
    var engine: SyncEngine<Cache>!
    private(set) var isTerminated = false
    /// True if the queue survives the process.
    private(set) var isPersistent = false
    /// The last error that has prevented the use of files, or damage in them; `nil` if there was none.
    private var problem: StatusError?

    /// The opening and closing of a cache, which may wait for a disk.
    struct Storage: Sendable {
        /// Opens the cache. It must not fail: without its files, it is in memory.
        let open: @Sendable () -> Opened
        let close: @Sendable (Cache) -> Void
        /// Opens a cache again whose files are damaged or gone, after closing it; returns `nil` if they are sound. After an error, it can be
        /// called again.
        var reopen: @Sendable (Cache) throws(StatusError) -> Reopened? = { _ in nil }
        /// Returns the sessions of queues that other processes have left. They end when these are empty.
        var abandonedQueues: @Sendable () -> [any SyncSession] = { [] }

        /// A cache that was opened.
        struct Opened {
            let cache: Cache
            /// True if the queue survives the process.
            var isPersistent = false
            /// The error that has prevented the use of files, or the damage in them; `nil` if there was none.
            var problem: StatusError?
        }

        /// A cache that was opened again.
        struct Reopened {
            let cache: Cache
            /// True if it has all queued batches, under their numbers.
            let keepsNumbers: Bool
            /// The damage in the files; `nil` if there was none.
            var problem: StatusError?
        }
    }

    /// The handlers of a listener.
    private struct Listener {
        let receive: @Sendable (Result<SyncSnapshot, StatusError>) -> Void
        let end: @Sendable () -> Void
    }

    /// The effects that wait until the queue is durable.
    private var effects: [SyncEffect] = []
    private var queuedHandlers: [@Sendable (StatusError?) -> Void] = []
    private var isFlushSubmitted = false
    /// The sends that wait for a sync that has failed.
    private var heldSends: [SyncEffect] = []
    private var isSyncRetryScheduled = false
    /// True while a step of filling indexes is submitted.
    var isFillingIndexes = false

    private var completions: [WriteID: WriteCompletion] = [:]
    /// The rejected batches of writes whose callers are being told.
    private var untold: [WriteID: (batch: RejectedBatch, user: UserID)] = [:]
    private var waits: [WaitID: @Sendable (StatusError?) -> Void] = [:]
    private var listeners: [ListenerID: Listener] = [:]
    private var snapshotsInSyncListeners: [ListenerID: @Sendable () -> Void] = [:]
    private var rejectionHandlers: [ListenerID: RejectionHandler] = [:]
    /// The handlers among the rejection handlers of the abandoned queues.
    private var forwardedHandlers: [ListenerID: [(session: any SyncSession, id: ListenerID)]] = [:]
    private var drainHandlers: [@Sendable () -> Void] = []

    /// True if the cache, since it was damaged, has not all batches under the numbers that the engine knows.
    private var hasLostNumbers = false
    /// The time before which a damaged cache is not opened again, since the last attempt has failed.
    private var nextReopening = ContinuousClock.now
    /// The last error of the cache that was reported.
    private var lastReport: (text: String, time: ContinuousClock.Instant)?

    var stream = TargetStream()
    var commits: CommitQueue
    var limboReads: [UInt64: Task<Void, Never>] = [:]
    private var onlineStateTimer: Task<Void, Never>?
    private var maintenance: Task<Void, Never>?
    var streamWatch: Task<Void, Never>?
    private var abandonedQueues: [any SyncSession] = []
    /// The time of the last commit of the queue that the server has acknowledged, with the epoch of its history.
    var acknowledged: (time: Timestamp, epoch: String?)?
    /// The knowledge of the server's clock.
    var serverClock = ServerClock()
    /// True if the last read had no answer from the server in time.
    var hasMissedAnswer = false
    private var lastUserChange: UInt64 = 0
    /// True while the cache cannot store a change of the user.
    private var isChangingUser = false
    /// The number of changes of the user, which distinguishes answers to an earlier one.
    private(set) var userGeneration: UInt64 = 0

    /// - Parameters:
    ///   - evictionPolicy: The policy by which the cache is kept small; `nil` for none.
    init(_ storage: Storage, for user: UserID, evicting evictionPolicy: EvictionPolicy?, over connection: HearthConnection) {
        self.storage = storage
        self.evictionPolicy = evictionPolicy
        self.connection = connection
        commits = CommitQueue(user: connection.establishUser())
        submit { $0.open(for: user) }
    }

    private func open(for user: UserID) {
        let opened = storage.open()
        (isPersistent, problem) = (opened.isPersistent, opened.problem)
        engine = SyncEngine(cache: opened.cache, user: user)
        start()
        abandonedQueues = storage.abandonedQueues()
        for session in abandonedQueues {
            session.whenDrained { [weak self] in
                Task {
                    await session.terminate()
                    await self?.removeAbandonedQueue(session)
                }
            }
        }
        guard let evictionPolicy else { return }
        maintenance = Task { [weak self] in
            var delay = Duration.seconds(60)
            while (try? await Task.sleep(for: delay)) != nil {
                await self?.evict(evictionPolicy)
                delay = .seconds(300)
            }
        }
    }

    private func removeAbandonedQueue(_ session: any SyncSession) {
        abandonedQueues.removeAll { $0 === session }
        for id in forwardedHandlers.keys { forwardedHandlers[id]?.removeAll { $0.session === session } }
    }

    /// Begins to send what is queued, as soon as the cache can tell it.
    private func start() {
        guard !isTerminated, !perform({ (engine) throws(StatusError) in try engine.start() }) else { return }
        Task { [weak self] in
            guard (try? await Task.sleep(for: .seconds(5))) != nil else { return }
            await self?.start()
        }
    }

    private func evict(_ policy: EvictionPolicy) {
        guard !isTerminated else { return }
        do throws(StatusError) {
            _ = try withEngine { (engine) throws(StatusError) in try engine.evict(policy) }
        } catch {
            report(error)
        }
    }

    /// Runs `body` after everything that was submitted before; returns at once.
    nonisolated func submit(_ body: @escaping @Sendable (isolated SyncClient) -> Void) {
        executor.submit { self.assumeIsolated { body($0) } }
    }

    nonisolated func nextID() -> UInt64 {
        lastID.wrappingAdd(1, ordering: .relaxed).newValue
    }
}

// MARK: Inputs and effects

extension SyncClient {
    /// Gives the engine an input. An error of the cache is reported.
    ///
    /// - Returns: False if the input had no effect, for lack of the cache.
    @discardableResult
    func perform(_ input: (inout SyncEngine<Cache>) throws(StatusError) -> [SyncEffect]) -> Bool {
        do throws(StatusError) {
            try performThrowing(input)
            return true
        } catch {
            report(error)
            return false
        }
    }

    /// Gives the engine an input, and carries out its effects.
    ///
    /// - Parameter isRepeatable: True to repeat the input after damage of the cache. Targets then have other IDs.
    func performThrowing(
        isRepeatable: Bool = false,
        _ input: (inout SyncEngine<Cache>) throws(StatusError) -> [SyncEffect]
    ) throws(StatusError) {
        guard !isTerminated else { throw .terminated }
        let effects: [SyncEffect]
        do throws(StatusError) {
            effects = isRepeatable ? try withEngine(input) : try input(&engine)
        } catch {
            flush()
            throw error
        }
        add(effects)
    }

    /// Calls the engine. If its cache turns out to be damaged, the files are opened again, and the call is repeated.
    func withEngine<Result>(
        _ body: (inout SyncEngine<Cache>) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        do throws(StatusError) {
            return try body(&engine)
        } catch {
            guard reopenDamagedCache() else { throw error }
            submitFlush()
            return try body(&engine)
        }
    }

    /// Opens the files of the cache again, if they are damaged or gone. The effects are those of the engine that goes on with them.
    ///
    /// - Returns: False if there was no damage, or if the files cannot be opened now.
    private func reopenDamagedCache() -> Bool {
        guard nextReopening <= .now else { return false }
        do throws(StatusError) {
            guard let reopened = try storage.reopen(engine.cache) else { return false }
            if !reopened.keepsNumbers { hasLostNumbers = true }
            do throws(StatusError) {
                let changes = try engine.replaceCache(with: reopened.cache, keepsNumbers: !hasLostNumbers)
                effects += changes
            } catch {
                storage.close(reopened.cache)
                throw error
            }
            hasLostNumbers = false
            problem = reopened.problem ?? problem
            // The targets have other IDs.
            stream.end()
            // Among them are batches that were recovered, and that may have been made.
            for handler in rejectionHandlers.values { repeatRejections(to: handler) }
            return true
        } catch {
            // It may have recovered a part of the queue before it failed.
            hasLostNumbers = true
            report(error)
            nextReopening = .now + .seconds(1)
            return false
        }
    }

    func add(_ effects: [SyncEffect]) {
        self.effects += effects
        flush()
    }

    /// Carries out the effects after everything that has been submitted so far, so that writes share a sync.
    private func submitFlush() {
        guard !isFlushSubmitted else { return }
        isFlushSubmitted = true
        submit { client in
            client.isFlushSubmitted = false
            client.flush()
        }
    }

    /// Makes the queue durable, and carries out the effects. Without durability, nothing is sent, and nobody is told that it is queued.
    func flush() {
        guard !isTerminated else { return }
        _ = reopenDamagedCache()
        let isDurable = synchronize()
        let effects = isDurable ? heldSends + self.effects : self.effects
        (self.effects, heldSends) = ([], isDurable ? [] : heldSends)
        for effect in effects {
            switch effect {
            case .send where !isDurable: heldSends.append(effect)
            case .stopSending:
                heldSends = []
                carryOut(effect)
            default: carryOut(effect)
            }
        }
        if isDurable {
            let handlers = queuedHandlers
            queuedHandlers = []
            for handler in handlers { handler(nil) }
        }
        sendCommits()
        fillIndexes()
        if !drainHandlers.isEmpty { endIfDrained() }
    }

    private func synchronize() -> Bool {
        do throws(StatusError) {
            try withEngine { (engine) throws(StatusError) in try engine.synchronizeQueue() }
            return true
        } catch {
            report(error)
            guard !isSyncRetryScheduled else { return false }
            isSyncRetryScheduled = true
            Task { [weak self] in
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                await self?.retrySync()
            }
            return false
        }
    }

    private func retrySync() {
        isSyncRetryScheduled = false
        flush()
    }

    private func carryOut(_ effect: SyncEffect) {
        switch effect {
        case .raise(let id, let snapshot):
            let damaged = engine.target(of: id).map { stream.damaged(of: $0) } ?? [:]
            let errors = damaged.sorted { $0.key < $1.key }.map(\.value)
            listeners[id]?.receive(.success(SyncSnapshot(view: snapshot, damaged: errors)))
        case .fail(let id, let error):
            listeners.removeValue(forKey: id)?.receive(.failure(error))
        case .raiseSnapshotsInSync(let ids):
            for id in ids { snapshotsInSyncListeners[id]?() }
        case .openTarget(let request):
            openTarget(request)
        case .closeTarget(let target):
            closeTarget(target)
        case .readDocuments(let paths):
            readLimboDocuments(paths)
        case .send(let batch, let identity):
            commits.append(batch, identity)
        case .stopSending:
            commits.stop()
        case .complete(let id, let error, let rejected):
            complete(id, error, rejected)
        case .reportRejection(let batch):
            report(batch)
        case .endWait(let id, let error):
            waits.removeValue(forKey: id)?(error)
        case .startOnlineStateTimer:
            onlineStateTimer?.cancel()
            onlineStateTimer = Task { [weak self] in
                guard (try? await Task.sleep(for: .seconds(10))) != nil else { return }
                await self?.fireOnlineStateTimer()
            }
        case .stopOnlineStateTimer:
            onlineStateTimer?.cancel()
        case .reportCacheError(let error):
            report(error)
        case .resendBatchesLater:
            resendLater()
        }
    }

    private func fireOnlineStateTimer() {
        guard !Task.isCancelled else { return }
        perform { $0.onlineStateTimerFired() }
    }

    private func complete(_ id: WriteID, _ error: StatusError?, _ rejected: RejectedBatch?) {
        guard let completion = completions.removeValue(forKey: id) else { return }
        guard let rejected else { return completion.handler(error) {} }
        // If the caller is not told since the process ends, the application is told by a later one.
        untold[id] = (rejected, engine.user)
        completion.handler(error) { [weak self] in
            self?.submit { client in
                guard let (batch, user) = client.untold.removeValue(forKey: id) else { return }
                client.forget(batch.number, of: user)
            }
        }
    }

    private func report(_ batch: RejectedBatch) {
        guard rejectionHandlers.isEmpty else {
            for handler in rejectionHandlers.values { handler.receive(batch, engine.user, self) }
            return
        }
        ClientLog.write("writes of an earlier call were rejected: \(batch.message)")
    }

    /// Reports an error of the cache that nobody waits for. One that goes on is reported each minute.
    func report(_ error: StatusError) {
        guard error.code != .cancelled, !isTerminated else { return }
        let text = "\(error)"
        if let lastReport, lastReport.text == text, lastReport.time.duration(to: .now) < .seconds(60) { return }
        lastReport = (text, .now)
        ClientLog.write("local cache: \(text)")
    }
}

// MARK: Calls of the API

extension SyncClient {
    @discardableResult
    nonisolated func write(
        _ writes: [Write],
        for user: UserID?,
        queued: (@Sendable (StatusError?) -> Void)?,
        completed: WriteCompletion?
    ) -> WriteID {
        let id = nextID()
        let localTime = Timestamp.localTime
        submit { client in
            do throws(StatusError) {
                try client.queue(writes, id, for: user, at: localTime, queued, completed)
            } catch {
                queued?(error)
                completed?.handler(error) {}
                // The error would otherwise go unnoticed.
                if queued == nil, completed == nil { ClientLog.write("write failed: \(error)") }
            }
        }
        return id
    }

    nonisolated func abandonWrite(_ id: WriteID) {
        submit { client in
            client.completions[id] = nil
            if let (batch, user) = client.untold.removeValue(forKey: id), user == client.engine?.user { client.report(batch) }
            guard !client.isTerminated else { return }
            client.engine.abandonWrite(id)
        }
    }

    private func queue(
        _ writes: [Write],
        _ id: WriteID,
        for user: UserID?,
        at localTime: Timestamp,
        _ queued: (@Sendable (StatusError?) -> Void)?,
        _ completed: WriteCompletion?
    ) throws(StatusError) {
        try checkQueueing(for: user)
        guard !writes.isEmpty else {
            queued?(nil)
            completed?.handler(nil) {}
            return
        }
        try CommitQueue.checkSize(of: writes)
        let (isAwaited, time) = (completed != nil, serverClock.time(at: localTime))
        let changes = try withEngine { (engine) throws(StatusError) in
            try engine.write(writes, isAwaited ? id : nil, at: time)
        }
        effects += changes
        completions[id] = completed
        if let queued { queuedHandlers.append(queued) }
        submitFlush()
    }

    /// Checks that writes of a user can be queued; `nil` for the current one.
    private func checkQueueing(for user: UserID?) throws(StatusError) {
        guard !isTerminated else { throw .terminated }
        guard !isChangingUser else {
            throw StatusError(.unavailable, "The local cache cannot store the change of the user. Try again later.")
        }
        guard user == nil || user == engine.user else {
            throw StatusError(
                .failedPrecondition,
                "The writes are those of another user. Queue them when that user has signed in."
            )
        }
    }

    nonisolated func listen(
        to query: ViewQuery,
        _ options: ListenOptions,
        ended: @escaping @Sendable () -> Void,
        _ handler: @escaping @Sendable (Result<SyncSnapshot, StatusError>) -> Void
    ) -> ListenerID {
        let id = nextID()
        submit { client in
            client.listeners[id] = Listener(receive: handler, end: ended)
            do throws(StatusError) {
                try client.performThrowing(isRepeatable: true) { (engine) throws(StatusError) in
                    try engine.listen(id, to: query, options: options)
                }
            } catch {
                client.listeners[id] = nil
                handler(.failure(error))
            }
        }
        return id
    }

    nonisolated func removeListener(_ id: ListenerID) {
        submit { client in
            guard client.listeners.removeValue(forKey: id) != nil else { return }
            client.perform { $0.unlisten(id) }
        }
    }

    nonisolated func addSnapshotsInSyncListener(_ handler: @escaping @Sendable () -> Void) -> ListenerID {
        let id = nextID()
        submit { client in
            guard !client.isTerminated else { return }
            client.snapshotsInSyncListeners[id] = handler
            client.perform { $0.addSnapshotsInSyncListener(id) }
        }
        return id
    }

    nonisolated func removeSnapshotsInSyncListener(_ id: ListenerID) {
        submit { client in
            guard client.snapshotsInSyncListeners.removeValue(forKey: id) != nil, !client.isTerminated else { return }
            client.engine.removeSnapshotsInSyncListener(id)
        }
    }

    nonisolated func waitForPendingWrites(_ completion: @escaping @Sendable (StatusError?) -> Void) {
        let id = nextID()
        submit { client in
            let wait = CommonWait(count: 1 + client.abandonedQueues.count, completion)
            client.waits[id] = { wait.end($0) }
            do throws(StatusError) {
                try client.performThrowing(isRepeatable: true) { (engine) throws(StatusError) in
                    try engine.waitForPendingWrites(id)
                }
            } catch {
                client.waits[id] = nil
                wait.end(error)
            }
            // One that has ended has an empty queue.
            for session in client.abandonedQueues { session.waitForPendingWrites { _ in wait.end(nil) } }
        }
    }

    func setNetworkEnabled(_ isEnabled: Bool) async {
        commits.resetBackoff()
        perform { (engine) throws(StatusError) in isEnabled ? try engine.enableNetwork() : engine.disableNetwork() }
        resumeCommits()
        for session in abandonedQueues { await session.setNetworkEnabled(isEnabled) }
    }

    nonisolated func changeUser(to user: UserID) {
        let connectionUser = connection.establishUser()
        submit { client in
            client.lastUserChange += 1
            client.changeUser(to: user, connectionUser, client.lastUserChange)
        }
    }

    /// - Parameter number: The number of the change, which is repeated until the cache has stored it or a later one follows.
    private func changeUser(to user: UserID, _ connectionUser: IDTokenCache.User?, _ number: UInt64) {
        guard !isTerminated, number == lastUserChange else { return }
        commits.resetBackoff()
        if user != engine.user {
            userGeneration += 1
            let previous = commits.user
            commits.user = connectionUser
            endStreamOfUser()
            isChangingUser = !perform { (engine) throws(StatusError) in try engine.changeUser(to: user) }
            guard !isChangingUser else {
                // The batches of the previous user are not sent for this one.
                commits.user = previous
                Task { [weak self] in
                    guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                    await self?.changeUser(to: user, connectionUser, number)
                }
                return
            }
            for handler in rejectionHandlers.values { repeatRejections(to: handler) }
            // Queues that other processes have left wait until the previous user is back.
            for session in abandonedQueues {
                Task { await session.terminate() }
            }
            (abandonedQueues, forwardedHandlers) = ([], [:])
        } else {
            isChangingUser = false
            commits.user = connectionUser
            for session in abandonedQueues { session.changeUser(to: user) }
        }
        resumeCommits()
    }

    func queueStatus() async throws(StatusError) -> WriteQueueStatus {
        guard !isTerminated else { throw .terminated }
        let (state, oldest) = try withEngine { (engine) throws(StatusError) in
            (try engine.queueState(), try engine.oldestLocalTime())
        }
        var status = WriteQueueStatus(
            count: Int(clamping: state.count),
            byteCount: state.byteCount,
            oldestWriteTime: oldest,
            lastError: commits.lastError.map(FirestoreError.init),
            failingSince: commits.failingSince,
            isPersistent: isPersistent,
            problem: problem.map(FirestoreError.init)
        )
        for session in abandonedQueues {
            // One that has ended has an empty queue.
            if let other = try? await session.queueStatus() { status.add(other) }
        }
        return status
    }

    nonisolated func addRejectionHandler(_ handler: RejectionHandler) -> ListenerID {
        let id = nextID()
        submit { client in
            guard !client.isTerminated else { return handler.end() }
            client.rejectionHandlers[id] = handler
            client.repeatRejections(to: handler)
            // It outlives them.
            let forwarded = RejectionHandler(receive: handler.receive, end: {})
            client.forwardedHandlers[id] = client.abandonedQueues.map { ($0, $0.addRejectionHandler(forwarded)) }
        }
        return id
    }

    /// Calls a handler for the rejected batches of the user that the application has not seen.
    private func repeatRejections(to handler: RejectionHandler) {
        do throws(StatusError) {
            let user = engine.user
            let untold = Set(untold.values.lazy.filter { $0.user == user }.map(\.batch.number))
            for batch in try engine.rejectedBatches() where !untold.contains(batch.number) { handler.receive(batch, user, self) }
        } catch {
            report(error)
        }
    }

    nonisolated func removeRejectionHandler(_ id: ListenerID) {
        submit { client in
            client.rejectionHandlers[id] = nil
            for (session, id) in client.forwardedHandlers.removeValue(forKey: id) ?? [] { session.removeRejectionHandler(id) }
        }
    }

    nonisolated func removeRejectedBatch(_ number: BatchNumber, of user: UserID) {
        submit { $0.forget(number, of: user) }
    }

    private func forget(_ number: BatchNumber, of user: UserID) {
        guard !isTerminated else { return }
        do throws(StatusError) {
            try withEngine { (engine) throws(StatusError) in try engine.removeRejectedBatch(number, of: user) }
        } catch {
            report(error)
        }
        submitFlush()
    }

    nonisolated func resendRejectedBatch(
        _ number: BatchNumber,
        of user: UserID,
        queued: @escaping @Sendable (StatusError?) -> Void
    ) {
        let localTime = Timestamp.localTime
        submit { client in
            do throws(StatusError) {
                try client.checkQueueing(for: user)
                let time = client.serverClock.time(at: localTime)
                let changes = try client.withEngine { (engine) throws(StatusError) in
                    try engine.resendRejectedBatch(number, at: time)
                }
                client.effects += changes
                client.queuedHandlers.append(queued)
                client.submitFlush()
            } catch {
                queued(error)
            }
        }
    }

    nonisolated func whenDrained(_ handler: @escaping @Sendable () -> Void) {
        submit { client in
            guard !client.isTerminated else { return handler() }
            client.drainHandlers.append(handler)
            client.endIfDrained()
        }
    }

    /// Calls the handlers that wait for the queue to be drained, if it is.
    private func endIfDrained() {
        // An error of the cache is reported by the next input.
        guard (try? engine.queueState())?.isEmpty == true, (try? engine.rejectedBatches())?.isEmpty == true else { return }
        let handlers = drainHandlers
        drainHandlers = []
        for handler in handlers { handler() }
    }

    func terminate() async {
        guard !isTerminated else { return }
        // Completes the writes that have been answered.
        flush()
        for effect in engine.terminate() { carryOut(effect) }
        isTerminated = true
        storage.close(engine.cache)
        // Releases the slot of a persistent cache.
        engine = nil
        maintenance?.cancel()
        onlineStateTimer?.cancel()
        streamWatch?.cancel()
        for task in limboReads.values { task.cancel() }
        for completion in completions.values where completion.endsWithSession { completion.handler(.unanswered) {} }
        for wait in waits.values { wait(.unanswered) }
        for handler in queuedHandlers { handler(.unanswered) }
        for listener in listeners.values { listener.end() }
        for handler in rejectionHandlers.values { handler.end() }
        for handler in drainHandlers { handler() }
        (effects, queuedHandlers, heldSends, limboReads, drainHandlers) = ([], [], [], [:], [])
        (completions, waits, listeners, snapshotsInSyncListeners, rejectionHandlers) = ([:], [:], [:], [:], [:])
        (forwardedHandlers, untold) = ([:], [:])
        let sessions = abandonedQueues
        abandonedQueues = []
        for session in sessions { await session.terminate() }
    }
}

extension StatusError {
    static var terminated: StatusError {
        StatusError(.failedPrecondition, "The Firestore instance has been terminated.")
    }

    /// The error of a wait that ends with the session.
    fileprivate static var unanswered: StatusError {
        StatusError(.cancelled, "The Firestore instance was terminated before the server answered.")
    }
}

extension Timestamp {
    /// The local time, in whole milliseconds, as the server's timestamps are.
    static var localTime: Timestamp {
        let milliseconds = (Date().timeIntervalSince1970 * 1_000).rounded(.down)
        let microseconds = Int64(exactly: milliseconds).map { $0 * 1_000 } ?? 0
        return (try? Timestamp(microseconds: microseconds)) ?? .minimum
    }
}
