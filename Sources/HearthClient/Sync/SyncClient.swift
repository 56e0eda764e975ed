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
    let storage: Storage
    private let evictionPolicy: EvictionPolicy?
    // Set by the first job on the executor, before all others, and `nil` again after the termination, which all others check.
    var engine: SyncEngine<Cache>!
    private(set) var isTerminated = false
    /// True if the queue survives the process.
    private(set) var isPersistent = false
    /// The last error that has prevented the use of files, or damage in them; `nil` if there was none.
    var problem: StatusError?

    /// The handlers of a listener.
    struct Listener {
        let receive: @Sendable (Result<SyncSnapshot, StatusError>) -> Void
        let end: @Sendable () -> Void
    }

    /// The effects that wait until the queue is durable.
    var effects: [SyncEffect] = []
    var queuedHandlers: [@Sendable (StatusError?) -> Void] = []
    var isFlushSubmitted = false
    /// The sends that wait for a sync that has failed.
    var heldSends: [SyncEffect] = []
    var isSyncRetryScheduled = false
    /// True while a step of filling indexes is submitted.
    var isFillingIndexes = false
    /// True while a step of refilling views is submitted.
    var isRefillingViews = false

    var completions: [WriteID: WriteCompletion] = [:]
    /// The rejected batches of writes whose callers are being told.
    var untold: [WriteID: (batch: RejectedBatch, user: UserID)] = [:]
    var waits: [WaitID: @Sendable (StatusError?) -> Void] = [:]
    var listeners: [ListenerID: Listener] = [:]
    var snapshotsInSyncListeners: [ListenerID: @Sendable () -> Void] = [:]
    var rejectionHandlers: [ListenerID: RejectionHandler] = [:]
    /// The handlers among the rejection handlers of the abandoned queues.
    var forwardedHandlers: [ListenerID: [(session: any SyncSession, id: ListenerID)]] = [:]
    var drainHandlers: [@Sendable () -> Void] = []

    /// True if the cache, since it was damaged, has not all batches under the numbers that the engine knows.
    var hasLostNumbers = false
    /// The time before which a damaged cache is not opened again, since the last attempt has failed.
    var nextReopening = ContinuousClock.now
    /// The last error of the cache that was reported.
    var lastReport: (text: String, time: ContinuousClock.Instant)?

    var stream = TargetStream()
    var commits: CommitQueue
    var limboReads: [UInt64: Task<Void, Never>] = [:]
    var onlineStateTimer: Task<Void, Never>?
    private var maintenance: Task<Void, Never>?
    var streamWatch: Task<Void, Never>?
    var abandonedQueues: [any SyncSession] = []
    /// The time of the last commit of the queue that the server has acknowledged, with the epoch of its history.
    var acknowledged: (time: Timestamp, epoch: String?)?
    /// The knowledge of the server's clock.
    private(set) var serverClock = ServerClock()
    /// The part of it that the cache has.
    var savedClock = ServerClock()
    /// True if the last read had no answer from the server in time.
    var hasMissedAnswer = false
    var lastUserChange: UInt64 = 0
    /// True while the cache cannot store a change of the user.
    var isChangingUser = false
    /// The number of changes of the user, which distinguishes answers to an earlier one.
    var userGeneration: UInt64 = 0

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
        var settings = SyncEngine<Cache>.Settings()
        settings.maximumRefillCount = Self.scanStepCount
        engine = SyncEngine(cache: opened.cache, user: user, settings: settings)
        // An error of the cache is that of the next call as well.
        savedClock = (try? opened.cache.serverClock) ?? ServerClock()
        serverClock = savedClock
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

    /// Records what the server tells of its clock, and stores it for later runs.
    func recordClock(_ record: (inout ServerClock) -> Void) {
        record(&serverClock)
        guard serverClock.isWorthSaving(over: savedClock) else { return }
        do throws(StatusError) {
            let clock = serverClock
            try withEngine { (engine) throws(StatusError) in try engine.save(clock) }
            savedClock = clock
        } catch {
            report(error)
        }
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

// MARK: Termination

extension SyncClient {
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

    /// The error of a read that only the server can answer, after the network was disabled.
    static var networkDisabled: StatusError {
        StatusError(.unavailable, "Failed to read from the server: the network is disabled.")
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
