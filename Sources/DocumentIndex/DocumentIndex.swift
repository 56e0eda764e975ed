internal import Concurrency
internal import Dispatch
package import DocumentModel
package import DocumentStore
package import Logging
internal import QueryEngine
internal import StorageIO
internal import Synchronization

/// The index of all documents by their fields: a derived database that is updated asynchronously after each commit.
///
/// Commits are queued and applied on a maintenance queue, all pending ones in one transaction. A commit after a pause is applied at
/// once. Those that follow it closely are batched while nothing waits for the index, since a document in a large batch costs a third
/// as much as one applied alone. ``waitUntilApplied(_:)`` makes a query see every commit that was acknowledged before it. Commits
/// that are missing from the queue after startup or an error are read from the source; if it no longer has them, the index is
/// rebuilt from all documents.
///
/// An error in the index does not affect reads and writes of documents: maintenance is retried, and queries fail with the error.
package final class DocumentIndex: Sendable {
    /// The lifecycle phase of the index.
    enum Phase: Sendable {
        /// The index is being opened, or applies commits from the source, since a time.
        case starting(since: ContinuousClock.Instant)
        /// The index is being rebuilt.
        case rebuilding(RebuildProgress)
        /// The index applies commits as they arrive.
        case ready
        /// The index cannot currently be used. Maintenance is retried.
        case failed(StatusError)
        /// The store is closed.
        case closed
    }

    /// The progress of the running backfill.
    struct BackfillProgress: Sendable {
        let collection: CollectionID
        let processedCount: Int
        let totalCount: Int
    }

    /// The state that the maintenance queue, the committer and readers share.
    struct State {
        var phase = Phase.starting(since: .now)
        /// True while a rebuild writes its entries. Commits are not applied until it is done.
        var isWritingRebuiltEntries = false
        /// The commits that are waiting to be applied.
        var queue: [IndexUpdate] = []
        var queuedBytes = 0
        /// The last commit that was enqueued.
        var last: (sequence: SequenceNumber, time: Timestamp?)
        /// The last commit in the index; `nil` while the index cannot be used.
        var applied: SequenceNumber?
        /// The number and size of the documents as of that commit; `nil` if it is not known.
        var size: CollectionSize?
        /// True if a run of ``DocumentIndex/runMaintenance()`` is scheduled at ``nextRunTime``.
        var isRunScheduled = false
        /// True if a run is scheduled without delay, on behalf of a waiter or for a full batch.
        var isImmediateRunScheduled = false
        /// The earliest time of the next run that is not immediate.
        var nextRunTime = DispatchTime.now()
        /// The build states by collection, and the progress of the running backfill.
        var builds: (states: [CollectionID: IndexBuildState], backfill: BackfillProgress?) = ([:], nil)
        /// True if a backfill is running or pending.
        var needsBackfill = false
        /// The reason why the existing index must be rebuilt.
        var rebuildReason: String?
        /// The time when the store began to close.
        var closing: ContinuousClock.Instant?
        /// The semaphore on which the committer waits, under backpressure.
        var backpressure: DispatchSemaphore?
        /// The queries that wait for the next change.
        var waiters = Waiters()
        /// The number of consecutive failures.
        var failureCount = 0
        /// The last failure that was logged as an error.
        var lastFailure: StatusError?
        /// The time since which the index has lacked disk space.
        var lowDiskSpaceSince: ContinuousClock.Instant?
        /// The size of the index after the last rebuild; 0 without one.
        var rebuiltBytes = 0
        /// The time of the next attempt after a failure.
        var retryTime: ContinuousClock.Instant?
        /// The earliest time of the next log entry about a backfill.
        var nextProgressLog: ContinuousClock.Instant?
        /// Incremented when the phase or the applied commit changes.
        var changeCount = 0

        /// True if queued commits are applied soon, so that the committer can wait for that.
        var appliesCommits: Bool {
            switch phase {
            case .ready: true
            case .rebuilding: !isWritingRebuiltEntries
            case .starting, .failed, .closed: false
            }
        }

        /// Counts a change and returns the waiters, which must be resumed outside the lock.
        mutating func recordChange() -> [Waiter] {
            changeCount += 1
            return waiters.removeAll()
        }
    }

    /// The composite indexes and exemptions.
    let definitions: Mutex<IndexDefinitionsFile>
    /// Serializes changes to the definitions.
    let definitionChanges = Mutex(())
    let state: Mutex<State>
    /// The owner of the database, used only by jobs on the maintenance queue.
    ///
    /// The lock is therefore never contended; it expresses the ownership to the compiler. An actor on that queue would do the
    /// same, but its callers are not tasks: runs are started by timers and by the committer, and ``close()`` blocks until the
    /// last one is done.
    let maintainer: Mutex<IndexMaintainer>
    let maintenanceQueue = DispatchQueue(label: "hearth.index")
    let readers: IndexConnectionPool
    let file: IndexFile
    let source: any IndexSource
    let logger: Logger
    /// The maximum time that a query waits for an index that is not ready.
    let waitTimeout: Duration
    /// The number of documents up to which a query waits for a rebuild.
    let waitDocumentCount: Int
    /// The duration of low disk space after which the index is deleted and rebuilt, if that frees space.
    let lowDiskSpaceTimeout: Duration

    /// The maximum size of commits that are batched while nothing waits.
    private static let maximumBatchBytes = 4 << 20
    /// The size of queued commits above which the committer waits.
    private static let maximumQueuedBytes = 16 << 20
    /// The time between two runs while nothing waits: commits are batched for so long.
    static let batchingInterval = DispatchTimeInterval.milliseconds(500)

    static let closed = StatusError(.unavailable, "Hearth is shutting down.")

    /// Creates the index of a store. Maintenance begins with ``start()``.
    ///
    /// - Parameters:
    ///   - source: The store's documents and commits.
    ///   - folder: The folder of the index's files, at `folderPath`.
    ///   - cacheBytes: The page cache size of the writing connection; reading connections get a sixth of it.
    ///   - isRebuildForced: Whether an existing index is replaced.
    ///   - waitTimeout: The maximum time that a query waits for an index that is not ready.
    ///   - waitDocumentCount: The number of documents up to which a query waits for a rebuild.
    ///   - lowDiskSpaceTimeout: The duration of low disk space after which the index is deleted and rebuilt, if that frees space.
    ///   - last: The last commit of the store.
    package init(
        of source: any IndexSource,
        in folder: any IndexFolder,
        folderPath: String,
        cacheBytes: Int,
        isRebuildForced: Bool,
        waitTimeout: Duration,
        waitDocumentCount: Int,
        lowDiskSpaceTimeout: Duration,
        last: (sequence: SequenceNumber, time: Timestamp?),
        onReadStart: (@Sendable (_ nanoseconds: UInt64) -> Void)? = nil,
        logger: Logger
    ) {
        file = IndexFile(in: folder, folderPath: folderPath, cacheBytes: cacheBytes)
        definitions = Mutex(IndexDefinitionsFile(in: folder, logger: logger))
        state = Mutex(State(last: last, rebuildReason: isRebuildForced ? "a rebuild was requested" : nil))
        maintainer = Mutex(IndexMaintainer(file: file, epoch: source.epoch, logger: logger))
        readers = IndexConnectionPool(file, onStart: onReadStart)
        self.waitTimeout = waitTimeout
        self.waitDocumentCount = waitDocumentCount
        self.lowDiskSpaceTimeout = lowDiskSpaceTimeout
        self.source = source
        self.logger = logger
    }

    /// The current phase.
    var phase: Phase { state.withLock { $0.phase } }

    /// True if the index applies commits as they arrive, so that a query waits only briefly.
    package var isReady: Bool {
        if case .ready = phase { true } else { false }
    }

    /// The marker that the folder's ``IndexRecord`` can hold before commits are written, so that the record need not be written
    /// again for the index.
    package func openMarker() throws(StatusError) -> String? {
        try file.openMarker()
    }

    /// Returns whether a marker was made since the machine was started, so that its file systems have lost no change.
    package static func isOfThisBoot(_ openMarker: String) -> Bool {
        IndexFile.isOfThisBoot(openMarker)
    }

    /// Opens the index in the background.
    package func start() {
        // Not in the background, so that the folder's `IndexRecord` is final when the store is open. An error is retried and logged
        // there.
        if let reason = try? file.unusableReason() {
            try? file.recreate()
            state.withLock { $0.rebuildReason = $0.rebuildReason ?? reason }
        }
        maintenanceQueue.async { self.runMaintenance() }
    }

    /// The number of reads so far that count as a use.
    package var useCount: Int { readers.useCount }

    /// Gives back the memory of an idle index: closes idle reading connections, and empties the page cache of the writing one.
    /// Waits for maintenance.
    package func releaseMemory() {
        readers.closeAll()
        maintenanceQueue.sync { maintainer.withLock { $0.releaseMemory() } }
    }

    /// Enqueues commits that follow the last ones. Readers of documents must get theirs already.
    package func enqueue(_ update: IndexUpdate) {
        let (isUrgent, runTime): (Bool, DispatchTime?) = state.withLock { state in
            if case .closed = state.phase { return (false, nil) }
            state.last = (update.last, update.time)
            state.queue.append(update)
            state.queuedBytes += update.byteCount
            if state.queuedBytes > Self.maximumQueuedBytes, !state.appliesCommits {
                // The source has them.
                state.queue = []
                state.queuedBytes = 0
            }
            guard case .ready = state.phase, !state.isImmediateRunScheduled else { return (false, nil) }
            if !state.waiters.isEmpty || state.queuedBytes >= Self.maximumBatchBytes {
                state.isImmediateRunScheduled = true
                return (true, nil)
            }
            guard !state.isRunScheduled else { return (false, nil) }
            state.isRunScheduled = true
            return (false, state.nextRunTime)
        }
        if isUrgent { maintenanceQueue.async { self.runMaintenance() } }
        if let runTime { scheduleRun(at: runTime) }
    }

    /// Schedules a run for the commits that are queued then. It is postponed if an immediate run begins before it.
    private func scheduleRun(at time: DispatchTime) {
        maintenanceQueue.asyncAfter(deadline: time) {
            let (isDue, nextTime): (Bool, DispatchTime?) = self.state.withLock { state in
                if !state.queue.isEmpty, state.nextRunTime > .now() { return (false, state.nextRunTime) }
                state.isRunScheduled = false
                return (!state.queue.isEmpty, nil)
            }
            if let nextTime { self.scheduleRun(at: nextTime) }
            if isDue { self.runMaintenance() }
        }
    }

    /// Blocks the committer's thread while the index is being opened, which can become a rebuild, for at most a time.
    package func waitUntilOpened(atMost timeout: Duration) {
        guard case .starting = state.withLock(\.phase) else { return }
        let semaphore = DispatchSemaphore(value: 0)
        maintenanceQueue.async { semaphore.signal() }
        _ = semaphore.wait(timeout: .now() + timeout / .seconds(1))
    }

    /// Blocks the committer's thread while the queue is too long, so that the index never lags far behind.
    package func applyBackpressure() {
        let semaphore: DispatchSemaphore? = state.withLock { state in
            guard state.queuedBytes > Self.maximumQueuedBytes, state.appliesCommits, state.closing == nil else {
                return nil
            }
            let semaphore = DispatchSemaphore(value: 0)
            state.backpressure = semaphore
            return semaphore
        }
        semaphore?.wait()
    }

    /// Applies the remaining commits and closes the index. Blocks. No call to ``enqueue(_:)`` may follow.
    ///
    /// - Returns: Whether the index is complete and synced.
    package func close() -> Bool {
        state.withLock { $0.closing = .now }
        readers.close()
        return maintenanceQueue.sync {
            if case .ready = phase { runMaintenance() }
            let isComplete = maintainer.withLock { maintainer in
                guard case .ready = phase else {
                    maintainer.close()
                    return false
                }
                return maintainer.finish()
            }
            setPhase(.closed)
            return isComplete
        }
    }
}
