package import DocumentModel

/// The sync engine of a client: what listeners see of the server's documents and of their own writes, online or not.
///
/// A value without clock, socket, thread or disk. Its inputs tell what has happened; each returns the effects that the caller has to
/// carry out, in order. One caller at a time drives an engine, such as an actor that owns the stream, the queue's connection, the
/// timer and the cache.
///
/// An input that throws has changed nothing: the cache could not store it. The caller repeats it later, or tells the application.
package struct SyncEngine<Cache: LocalCache>: Sendable {
    /// The settings of an engine.
    package struct Settings: Sendable {
        /// The maximum number of batches that are sent without an answer.
        package var maximumBatchesInFlight = 10
        /// The maximum number of documents in limbo that are read at once.
        package var maximumLimboReads = 1_000
        /// The limits of the queue.
        package var queueLimits = QueueLimits()
        /// The approximate number of documents that are read at once to refill a view: see ``SyncEngine/continueRefills()``.
        package var maximumRefillCount = Int.max

        /// Creates the default settings.
        package init() {}
    }

    var store: LocalStore<Cache>
    var views: [ViewID: ViewState] = [:]
    var viewIDs: [ViewQuery: ViewID] = [:]
    var listenerViews: [ListenerID: ViewID] = [:]
    var snapshotsInSyncListeners: [ListenerID] = []
    /// The acknowledged documents that a view still shows as pending, with their versions.
    var heldPaths: [DocumentPath: Timestamp] = [:]
    var limbo: LimboReads
    var connection = ConnectionState()
    var pipeline: WritePipeline
    var completions: [UserID: [BatchNumber: WriteID]] = [:]
    var waits: [BatchNumber: [WaitID]] = [:]
    var effects: [SyncEffect] = []
    /// True if a listener is called in this round.
    private var hasRaised = false
    /// The views that need a refill.
    var refills = PendingRefills()
    /// The calls of listeners that wait for views to be refilled, so that all show the same commit.
    private(set) var heldCalls: [SyncEffect] = []
    let maximumRefillCount: Int
    let queueLimits: QueueLimits
    private var lastViewID: ViewID = 0

    /// Creates an engine over a cache, which may hold documents and batches of earlier runs.
    package init(cache: Cache, user: UserID = UserID(nil), settings: Settings = Settings()) {
        store = LocalStore(cache: cache, user: user)
        limbo = LimboReads(maximumCount: settings.maximumLimboReads)
        pipeline = WritePipeline(maximumCount: settings.maximumBatchesInFlight)
        queueLimits = settings.queueLimits
        maximumRefillCount = settings.maximumRefillCount
    }

    /// The cache, from which another engine can go on after ``terminate()``.
    package var cache: Cache { store.cache }

    /// Saves the knowledge of the server's clock, which ``LocalCache/serverClock`` of the cache returns after a restart.
    package mutating func save(_ clock: ServerClock) throws(StatusError) {
        try store.transaction { (cache: inout Cache) throws(StatusError) in try cache.save(clock) }
    }

    /// The user whose writes are queued.
    package var user: UserID { store.user }

    /// The knowledge of the connection.
    package var onlineState: OnlineState { connection.tracker.state }

    /// Begins to send the batches of earlier runs. The first input.
    package mutating func start() throws(StatusError) -> [SyncEffect] {
        try store.validateOverlays()
        try store.readIndexState()
        try fillPipeline()
        return takeEffects()
    }

    /// Ends all listeners, the stream and all sends without further events. The queue stays in the ``cache``, with the latest tokens.
    package mutating func terminate() -> [SyncEffect] {
        for target in connection.openTargets { effects.append(.closeTarget(target)) }
        if pipeline.reset() { effects.append(.stopSending) }
        connection.closeAll()
        updateConnection { $0.reset(to: .unknown) }
        (views, refills, heldCalls) = ([:], PendingRefills(), [])
        viewIDs = [:]
        listenerViews = [:]
        snapshotsInSyncListeners = []
        heldPaths = [:]
        limbo.removeAll()
        attempt { (engine) throws(StatusError) in try engine.store.releaseAll() }
        return takeEffects().filter { effect in
            switch effect {
            case .raise, .raiseSnapshotsInSync: false
            default: true
            }
        }
    }

    /// Evicts the least recently used targets and documents of the cache, if it is not an eager one.
    package mutating func evict(_ policy: EvictionPolicy) throws(StatusError) -> EvictionResult {
        try store.evict(policy)
    }

    /// Returns the effects since the last call, and evicts what nothing needs any more.
    mutating func takeEffects() -> [SyncEffect] {
        attempt { (engine) throws(StatusError) in try engine.store.evictCandidates() }
        if hasRaised, !snapshotsInSyncListeners.isEmpty { effects.append(.raiseSnapshotsInSync(snapshotsInSyncListeners)) }
        defer { (effects, hasRaised) = ([], false) }
        return effects
    }

    /// Adds the calls of listeners to the effects, unless views need a refill: then they wait for it.
    mutating func raise(_ calls: [SyncEffect]) {
        heldCalls += calls
        raiseHeldCalls()
    }

    /// Adds the calls of listeners that have waited to the effects, if no view needs a refill any more.
    mutating func raiseHeldCalls() {
        guard refills.isEmpty, !heldCalls.isEmpty else { return }
        let calls = heldCalls.filter(\.isOfListener)
        // The others are among those that are called after a round.
        effects += calls.isEmpty ? heldCalls : calls
        heldCalls = []
        if !calls.isEmpty { hasRaised = true }
    }

    /// Forgets the calls of a listener that wait.
    mutating func dropCalls(of listener: ListenerID) {
        heldCalls.removeAll { call in
            switch call {
            case .raise(listener, _), .raiseSnapshotsInSync([listener]): true
            default: false
            }
        }
    }

    /// Does what the engine can do without, and reports an error of the cache.
    mutating func attempt(_ body: (inout Self) throws(StatusError) -> Void) {
        do throws(StatusError) {
            try body(&self)
        } catch {
            effects.append(.reportCacheError(error))
        }
    }

    mutating func nextViewID() -> ViewID {
        lastViewID += 1
        return lastViewID
    }
}

extension SyncEffect {
    /// True for a call of a listener with a snapshot.
    fileprivate var isOfListener: Bool {
        if case .raise = self { true } else { false }
    }
}
