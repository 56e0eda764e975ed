internal import Concurrency
internal import Dispatch
internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import QueryEngine
internal import StorageIO
internal import StrictJSON
internal import Synchronization

extension DocumentIndex {
    private typealias Failure = IndexMaintainer.Failure

    /// The time for which closing the store waits for a rebuild, which may be nearly complete.
    private static let closingTimeout = Duration.seconds(2)
    /// The time between two log entries about a running build.
    private static let progressLogInterval = Duration.seconds(5)

    /// Opens the index if necessary, applies all commits, and backfills one batch. Runs on the maintenance queue.
    func runMaintenance() {
        maintainer.withLock { maintainer in
            let (isTooEarly, wasReady) = state.withLock { state in
                state.isImmediateRunScheduled = false
                state.nextRunTime = .now() + Self.batchingInterval
                let wasReady = if case .ready = state.phase { true } else { false }
                return (state.retryTime.map { .now < $0 } ?? false, wasReady)
            }
            guard !isClosed, !isTooEarly else { return }
            do throws(Failure) {
                if !maintainer.isOpen { try open(&maintainer) }
                // Commits that are enqueued while others are applied wait for the next batch.
                try catchUp(&maintainer, onePass: wasReady) { maintainer, updates throws(Failure) in
                    try maintainer.apply(updates, onApplied: publishApplied)
                }
                try maintainer.setDefinitions(definitions.withLock { $0.value })
                // Before the phase is ready, so that ``waitUntilReady(onProgress:)`` waits for backfills too.
                publishBuilds(maintainer)
                setPhase(.ready)
                let isBackfilling = try maintainer.backfillBatch()
                if isBackfilling {
                    publishBuilds(maintainer)
                    logBackfill(maintainer)
                }
                let needsRun = state.withLock { state in
                    state.failureCount = 0
                    state.lastFailure = nil
                    state.lowDiskSpaceSince = nil
                    state.retryTime = nil
                    return isBackfilling || !wasReady && !state.queue.isEmpty
                }
                // A commit that was enqueued before the phase became ready did not schedule a run.
                if needsRun { maintenanceQueue.async { self.runMaintenance() } }
            } catch {
                handleFailure(error, &maintainer)
            }
        }
    }

    private var isClosed: Bool {
        state.withLock { state in
            if case .closed = state.phase { return true }
            return false
        }
    }

    private func open(_ maintainer: inout IndexMaintainer) throws(Failure) {
        setPhase(.starting(since: .now))
        let (last, rebuildReason) = state.withLock { ($0.last, $0.rebuildReason) }
        var reason = if let rebuildReason { rebuildReason } else { try maintainer.open(last: last.sequence) }
        if reason == nil, maintainer.applied < last.sequence,
            (source.oldestCommit ?? last.sequence.next) > maintainer.applied.next
        {
            reason = "the journal no longer retains the commits missing from the index"
        }
        if let reason { try rebuild(&maintainer, because: reason) }
        state.withLock { $0.rebuildReason = nil }
        publishApplied(maintainer.applied, maintainer.size)
    }

    /// Applies all commits that follow `applied`, from the queue, and from the source where the queue has a gap.
    ///
    /// - Parameter onePass: Whether to leave the commits that are enqueued in the meantime.
    private func catchUp<Target>(
        _ target: inout Target,
        from applied: (Target) -> SequenceNumber,
        onePass: Bool = false,
        _ apply: (inout Target, [IndexUpdate]) throws(Failure) -> Void
    ) throws(Failure) {
        while true {
            let (queue, last) = drainQueue()
            let updates = queue.drop { $0.last <= applied(target) }
            let end = updates.first?.first ?? last.next
            while applied(target).next < end {
                let position = applied(target)
                let update = try IndexMaintainer.catchingStorageErrors { () throws(StatusError) in
                    try IndexUpdate(source.commits(after: position, through: SequenceNumber(end.rawValue - 1)))
                }
                if let update { try apply(&target, [update]) }
            }
            if updates.isEmpty { return }
            try apply(&target, Array(updates))
            if onePass { return }
        }
    }

    private func catchUp(
        _ maintainer: inout IndexMaintainer,
        onePass: Bool,
        _ apply: (inout IndexMaintainer, [IndexUpdate]) throws(Failure) -> Void
    ) throws(Failure) {
        try catchUp(&maintainer, from: \.applied, onePass: onePass, apply)
    }

    private func catchUp(_ builder: inout IndexBulkBuilder) throws(Failure) {
        try catchUp(&builder, from: \.last.sequence) { builder, updates throws(Failure) in
            try builder.apply(updates)
        }
    }

    /// Empties the queue and releases the committer.
    private func drainQueue() -> (queue: [IndexUpdate], last: SequenceNumber) {
        let (queue, last, backpressure) = state.withLock { state in
            defer {
                state.queue = []
                state.queuedBytes = 0
                state.backpressure = nil
            }
            return (state.queue, state.last.sequence, state.backpressure)
        }
        backpressure?.signal()
        return (queue, last)
    }

    /// Rebuilds the index from the document files, with the commits that are made in the meantime.
    private func rebuild(_ maintainer: inout IndexMaintainer, because reason: String) throws(Failure) {
        let start = lastScannable
        setPhase(.rebuilding(RebuildProgress(startTime: .now)))
        defer { state.withLock { $0.isWritingRebuiltEntries = false } }
        readers.closeAll()
        // The scan does not contain those that have no file yet. Before it starts: they may be applied while it goes on.
        let unapplied = source.unappliedDocuments
        let scan = source.scanDocuments {
            self.lastScannable.sequence
        } onCount: { count, isComplete in
            self.updateRebuild { ($0.countedCount, $0.isCounted) = (count, isComplete) }
        }
        defer { scan.cancel() }
        let clock = ContinuousClock()
        let startTime = clock.now
        var count = 0
        var nextLog = startTime + Self.progressLogInterval
        do throws(Failure) {
            try maintainer.rebuild(from: start, definitions.withLock { $0.value }) { builder throws(Failure) in
                try builder.add(unapplied)
                while let batch = try IndexMaintainer.catchingStorageErrors({ () throws(StatusError) in try scan.next() }) {
                    try checkRebuild()
                    try catchUp(&builder)
                    try builder.add(batch)
                    count += batch.documents.count
                    updateRebuild { $0.readCount += batch.documents.count + batch.unreadable.count }
                    if clock.now >= nextLog {
                        nextLog = clock.now + Self.progressLogInterval
                        logRebuild()
                    }
                }
                try catchUp(&builder)
                try builder.add(source.unappliedDocuments)
                deferCommitsToSource()
                try builder.finish { fraction throws(Failure) in
                    updateRebuild { $0.writtenFraction = fraction }
                    try checkRebuild()
                    if clock.now >= nextLog {
                        nextLog = clock.now + Self.progressLogInterval
                        logRebuild()
                    }
                }
            }
        } catch {
            // Frees the space of the unusable file. If this fails too, the next attempt does it.
            try? file.recreate()
            throw error
        }
        state.withLock { $0.rebuiltBytes = file.byteCount }
        guard count > 0 else { return }
        logger.notice(
            "Rebuilt the index",
            metadata: ["index.documents": "\(count)", "index.reason": "\(reason)", "index.duration": "\(clock.now - startTime)"]
        )
    }

    /// Changes the progress of the running rebuild and resumes the waiters.
    private func updateRebuild(_ change: (inout RebuildProgress) -> Void) {
        let waiters = state.withLock { state -> [Waiter] in
            guard case .rebuilding(var progress) = state.phase else { return [] }
            change(&progress)
            state.phase = .rebuilding(progress)
            return state.recordChange()
        }
        for waiter in waiters { waiter.resume() }
    }

    private func logRebuild() {
        guard case .rebuilding(let progress) = phase else { return }
        let report = progress.report(at: .now)
        var metadata: Logger.Metadata = ["index.documents": "\(report.completedCount)"]
        metadata["index.total"] = report.totalCount.map { "\($0)" }
        metadata["index.percent"] = report.percentage.map { "\($0)" }
        logger.notice("Rebuilding the index", metadata: metadata)
    }

    /// The last commit whose documents a scan contains. Its time is `nil` if documents of later commits are not in place yet.
    private var lastScannable: (sequence: SequenceNumber, time: Timestamp?) {
        // In this order: documents are unapplied before their commit is enqueued.
        let last = state.withLock { $0.last }
        if let applied = source.lastAppliedSequence, applied < last.sequence { return (applied, nil) }
        return last
    }

    /// Releases the committer until a rebuild has written its entries, which can take minutes. The commits that exceed the queue are
    /// read from the source afterward.
    private func deferCommitsToSource() {
        let backpressure = state.withLock { state in
            defer { state.backpressure = nil }
            state.isWritingRebuiltEntries = true
            return state.backpressure
        }
        backpressure?.signal()
    }

    /// Ends a rebuild when the disk is nearly full, or when the store has been closing for longer than ``closingTimeout``.
    private func checkRebuild() throws(Failure) {
        let headroom = try IndexMaintainer.catchingStorageErrors { () throws(StatusError) in try file.diskHeadroom() }
        if case .exhausted = headroom { throw .lowDiskSpace }
        if let closing = state.withLock({ $0.closing }), .now - closing > Self.closingTimeout { throw .storage(Self.closed) }
    }
}

extension DocumentIndex {
    /// Closes the index after an error and schedules the next attempt, with exponential backoff.
    func handleFailure(_ failure: IndexMaintainer.Failure, _ maintainer: inout IndexMaintainer) {
        maintainer.close()
        readers.closeAll()
        if state.withLock({ $0.closing != nil }) { return }
        // A corrupt index is rebuilt.
        if case .database(let error) = failure, error.isCorruption { try? file.remove() }
        // On a full disk SQLite also fails with nonspecific errors.
        var isOutOfSpace = failure.isOutOfSpace
        if case .exhausted? = try? file.diskHeadroom() { isOutOfSpace = true }
        let status = isOutOfSpace ? DiskHeadroom.exhaustedError : failure.status
        let byteCount = file.byteCount
        let (backpressure, delay, isRepeated) = state.withLock { state in
            defer { state.backpressure = nil }
            state.applied = nil
            let isRepeated = state.lastFailure?.message == status.message
            state.lastFailure = status
            let isRebuilding = if case .rebuilding = state.phase { true } else { false }
            state.recordDiskSpace(isLow: isOutOfSpace && !isRebuilding, timeout: lowDiskSpaceTimeout, byteCount: byteCount)
            state.failureCount += 1
            // Checking for free space is cheap, but a rebuild reads all documents.
            let delay = 1 << min(state.failureCount, isOutOfSpace && !isRebuilding ? 2 : 6)
            state.retryTime = .now + .seconds(delay)
            return (state.backpressure, delay, isRepeated)
        }
        logger.log(
            level: isRepeated ? .debug : .error,
            "Index maintenance failed; retrying. Document reads and writes are unaffected",
            metadata: ["error": "\(status)", "error.cause": "\(status.cause.map { "\($0)" } ?? "")"]
        )
        setPhase(.failed(status))
        backpressure?.signal()
        maintenanceQueue.asyncAfter(deadline: .now() + .seconds(delay) + .milliseconds(10)) { [weak self] in
            self?.runMaintenance()
        }
    }

    /// Publishes the last commit in the index and resumes the waiters.
    private func publishApplied(_ sequence: SequenceNumber, _ size: CollectionSize?) {
        let waiters = state.withLock { state in
            state.applied = sequence
            state.size = size
            return state.recordChange()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Sets the phase and resumes the waiters.
    func setPhase(_ phase: Phase) {
        let waiters = state.withLock { state in
            state.phase = phase
            return state.recordChange()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Publishes the build states and resumes the waiters.
    private func publishBuilds(_ maintainer: borrowing IndexMaintainer) {
        let backfill = maintainer.backfill.map { backfill in
            BackfillProgress(
                collection: backfill.collection,
                processedCount: backfill.processedCount,
                totalCount: backfill.totalCount
            )
        }
        let builds = (maintainer.buildStates, backfill)
        let (applied, isBackfilled) = (maintainer.definitions, maintainer.buildStates.values.allSatisfy(\.isBackfilled))
        let waiters = definitions.withLock { definitions in
            state.withLock { state in
                state.builds = builds
                state.needsBackfill = !isBackfilled || definitions.value != applied
                return state.recordChange()
            }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Logs the progress of a backfill that takes more than five seconds.
    private func logBackfill(_ maintainer: borrowing IndexMaintainer) {
        let backfill = maintainer.backfill
        let isDue = state.withLock { state in
            let next = state.nextProgressLog
            if let next, next > .now, backfill != nil { return false }
            state.nextProgressLog = backfill == nil ? nil : .now + Self.progressLogInterval
            return next != nil
        }
        guard isDue, let backfill else { return }
        logger.notice(
            "Backfilling index entries",
            metadata: [
                "index.collection": "\(backfill.collection)", "index.documents": "\(backfill.processedCount)",
                "index.total": "\(backfill.totalCount)",
            ]
        )
    }
}

extension DocumentIndex.State {
    /// Requests a rebuild when the index has lacked disk space for longer than a timeout. This frees the space of deleted and
    /// overwritten entries, unless the index has hardly grown since the last rebuild.
    fileprivate mutating func recordDiskSpace(isLow: Bool, timeout: Duration, byteCount: Int) {
        guard isLow else {
            lowDiskSpaceSince = nil
            return
        }
        let start = lowDiskSpaceSince ?? .now
        lowDiskSpaceSince = start
        guard .now - start >= timeout, byteCount > rebuiltBytes + rebuiltBytes / 4 else { return }
        rebuildReason = "disk space was low"
        lowDiskSpaceSince = nil
    }
}
