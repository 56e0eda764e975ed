package import DocumentModel

// MARK: Replacing the cache

extension SyncEngine {
    /// Goes on with another cache in place of one that was damaged or lost, for the same user.
    ///
    /// Listeners go on to show what they have: documents that the new cache lacks are stored in it as they are, until the server tells
    /// their state. Targets are opened again, and batches are sent again.
    ///
    /// - Parameters:
    ///   - cache: The new cache.
    ///   - keepsNumbers: True if it has all queued batches, under their numbers. Otherwise nothing is known any more about writes whose
    ///     callers wait: they end with ``StatusCode/unknown``.
    /// - Throws: The error of the new cache. The engine then still has the previous one.
    package mutating func replaceCache(with cache: Cache, keepsNumbers: Bool) throws(StatusError) -> [SyncEffect] {
        var replacement = store.replacement(over: cache)
        let shown = views.values.flatMap { $0.view.result.documents }
        try replacement.restore(shown)
        try replacement.validateOverlays()
        try replacement.readIndexState()
        var targets: [ViewID: CachedTarget] = [:]
        for (id, state) in views.sorted(by: { $0.key < $1.key }) {
            targets[id] = try replacement.allocate(state.view.query.target)
        }
        let documents = try replacement.currentDocuments(at: Set(shown.map(\.path)))
        let queue = try replacement.queueState()

        store = replacement
        for target in connection.openTargets { effects.append(.closeTarget(target)) }
        connection.closeAll()
        if pipeline.reset() { effects.append(.stopSending) }
        if !keepsNumbers { forgetNumbers(queue) }
        var event = RemoteEvent()
        for (id, target) in targets {
            views[id]?.targetID = target.id
            if target.token == nil { event.targets[target.id] = RemoteEvent.TargetChange(isCurrent: false, isReset: true) }
        }
        for id in views.keys.sorted() {
            if let state = views[id], state.needsTarget { openTarget(state.targetID) }
        }
        refreshViews(documents, event, isWithdrawal: true)
        attemptToFillPipeline()
        return takeEffects()
    }

    /// Ends what waits for batches by their numbers, which are now those of others.
    private mutating func forgetNumbers(_ queue: QueueState) {
        pipeline.forgetUser()
        let error = StatusError(
            .unknown,
            "The queue of writes was damaged, and it is not known what has become of these. What could be recovered is sent. Read the "
                + "documents to find out."
        )
        for id in completions.values.flatMap(\.values).sorted() { effects.append(.complete(id, error)) }
        completions = [:]
        let waiting = waits.values.joined().sorted()
        waits = [:]
        if queue.isEmpty {
            for id in waiting { effects.append(.endWait(id, nil)) }
        } else {
            waits[queue.lastNumber] = waiting
        }
    }
}
