package import DocumentModel

extension SyncEngine {
    /// Adds a listener.
    ///
    /// Its first event is raised at once if the result is synced, if it listens to the cache alone, if the cache knows the result, or
    /// if the client is offline; otherwise when one of these has become true.
    package mutating func listen(
        _ listener: ListenerID,
        to query: ViewQuery,
        options: ListenOptions = ListenOptions()
    ) throws(StatusError) -> [SyncEffect] {
        try runScan { (engine, scan) throws(StatusError) in
            try engine.listen(listener, to: query, options: options, continuing: scan, maximumCount: .max)
        }
    }

    /// Adds a listener, in steps if the cache has to be scanned for its query: after each but the last one, the call is repeated with the
    /// scan, or that is ended.
    ///
    /// - Parameters:
    ///   - scan: The scan after its last step; `nil` to begin.
    ///   - maximumCount: The approximate number of documents to scan in this step.
    package mutating func listen(
        _ listener: ListenerID,
        to query: ViewQuery,
        options: ListenOptions,
        continuing scan: ScanID?,
        maximumCount: Int
    ) throws(StatusError) -> ScanOutcome<[SyncEffect]> {
        let id: ViewID
        if let known = viewIDs[query] {
            id = known
            if let scan { store.end(scan) }
        } else {
            switch try openView(query, continuing: scan, maximumCount: maximumCount) {
            case .complete(let opened): id = opened
            case .incomplete(let scan): return .incomplete(scan)
            }
        }
        listenerViews[listener] = id
        let connection = connection(of: id)
        let raised = views[id]?.add(QueryListener(id: listener, options: options), connection) ?? []
        raise(raised)
        if let state = views[id], state.needsTarget { openTarget(state.targetID) }
        return .complete(takeEffects())
    }

    /// Ends a scan that is not continued.
    package mutating func end(_ scan: ScanID) {
        store.end(scan)
    }

    /// Makes an input that scans the cache in steps as one.
    private mutating func runScan<Result>(
        _ input: (inout Self, ScanID?) throws(StatusError) -> ScanOutcome<Result>
    ) throws(StatusError) -> Result {
        var scan: ScanID?
        while true {
            switch try input(&self, scan) {
            case .complete(let result): return result
            case .incomplete(let begun): scan = begun
            }
        }
    }

    /// Removes a listener. With the last one that is not content with the cache, its target is closed.
    package mutating func unlisten(_ listener: ListenerID) -> [SyncEffect] {
        guard let id = listenerViews.removeValue(forKey: listener), let target = views[id]?.targetID else { return [] }
        views[id]?.remove(listener)
        dropCalls(of: listener)
        if views[id]?.listeners.isEmpty == true { closeView(id) }
        let remaining = viewIDs(of: target)
        if !remaining.contains(where: { views[$0]?.needsTarget == true }) {
            closeTarget(target)
            if !remaining.isEmpty { refreshViews([:]) }
            presentOffline(remaining)
        }
        if remaining.isEmpty { release(target) }
        return takeEffects()
    }

    /// Ends the listeners of a target that the server has rejected for good. It was an answer, so the client is online.
    package mutating func targetRejected(_ target: TargetID, _ error: StatusError) -> [SyncEffect] {
        guard connection.isEnabled, connection.isOpen(target) else { return [] }
        answer()
        connection.close(target)
        if connection.isIdle { updateConnection { $0.reset(to: .unknown) } }
        for id in viewIDs(of: target) {
            for listener in views[id]?.listeners ?? [] {
                listenerViews[listener.id] = nil
                dropCalls(of: listener.id)
                effects.append(.fail(listener.id, error))
            }
            closeView(id)
        }
        release(target)
        return takeEffects()
    }

    /// Adds a listener that is called when no view has more events of what has arrived.
    package mutating func addSnapshotsInSyncListener(_ listener: ListenerID) -> [SyncEffect] {
        snapshotsInSyncListeners.append(listener)
        raise([.raiseSnapshotsInSync([listener])])
        return takeEffects()
    }

    /// Removes such a listener.
    package mutating func removeSnapshotsInSyncListener(_ listener: ListenerID) {
        snapshotsInSyncListeners.removeAll { $0 == listener }
        dropCalls(of: listener)
    }

    /// The documents that the server counts to a target, as far as the engine listens to it.
    package func keys(of target: TargetID) -> Set<DocumentPath> {
        viewIDs(of: target).first.flatMap { views[$0]?.view.targetKeys } ?? []
    }

    /// The target of a listener; `nil` if there is no such listener.
    package func target(of listener: ListenerID) -> TargetID? {
        listenerViews[listener].flatMap { views[$0]?.targetID }
    }
}

// MARK: Reading the cache

extension SyncEngine {
    /// Returns what the cache knows of a document, with local writes.
    package mutating func document(at path: DocumentPath) throws(StatusError) -> LocalRead {
        try store.document(at: path)
    }

    /// Returns the result of a query in the cache, with local writes.
    package mutating func result(of query: ViewQuery) throws(StatusError) -> ViewSnapshot {
        try runScan { (engine, scan) throws(StatusError) in
            try engine.result(of: query, continuing: scan, maximumCount: .max)
        }
        .snapshot
    }

    /// Returns the result of a query in the cache, with local writes, in steps as ``listen(_:to:options:continuing:maximumCount:)``.
    package mutating func result(
        of query: ViewQuery,
        continuing scan: ScanID?,
        maximumCount: Int
    ) throws(StatusError) -> ScanOutcome<CachedResult> {
        switch try store.run(query, usesTargetKeys: true, continuing: scan, maximumCount: maximumCount) {
        case .complete(let result):
            return .complete(CachedResult(query: query, documents: result.documents, targetKeys: result.targetKeys))
        case .incomplete(let scan):
            return .incomplete(scan)
        }
    }
}

/// The documents of a query in the cache, which are still to be sorted. That is no work of the engine, which others wait for.
package struct CachedResult: Sendable {
    let query: ViewQuery
    let documents: [DocumentPath: LocalDocument?]
    let targetKeys: Set<DocumentPath>

    /// Sorts the documents.
    package var snapshot: ViewSnapshot {
        var view = View(query, targetKeys: targetKeys)
        _ = view.apply(view.update(for: documents))
        return view.snapshot(hasCachedResult: false).initial
    }
}

// MARK: Reading from the server

extension SyncEngine {
    /// Applies the server's answer to a query, and returns the result with local writes.
    ///
    /// No document takes the place of one that local writes remove from a limited result. What the cache has in the result and the answer
    /// has not has changed on the server: see ``readChangedDocuments(of:except:continuing:maximumCount:)``.
    ///
    /// - Parameter event: The documents of the answer, without targets.
    package mutating func apply(
        _ event: RemoteEvent,
        answering query: ViewQuery
    ) throws(StatusError) -> (snapshot: ViewSnapshot, effects: [SyncEffect]) {
        let paths = Set(event.documents.map(\.path))
        let documents = try store.apply(event)
        var result = try store.result(of: query, among: paths)
        // A server that does not tell times cannot make the cache forget a document.
        for document in event.documents where event.time == nil && document.content == .missing {
            if let known = result[document.path]??.hasLocalMutations, !known { result.updateValue(nil, forKey: document.path) }
        }
        refreshViews(documents, event)
        var view = View(query, targetKeys: paths)
        _ = view.apply(view.update(for: result), target: RemoteEvent.TargetChange(isCurrent: true), tracksLimbo: false)
        return (view.snapshot(hasCachedResult: true).initial, takeEffects())
    }

    /// Returns the effects that read what the cache has in the result of a query without a limit and the server's answer has not, in steps
    /// as ``listen(_:to:options:continuing:maximumCount:)``.
    ///
    /// - Parameter paths: The documents of the answer.
    package mutating func readChangedDocuments(
        of query: ViewQuery,
        except paths: Set<DocumentPath>,
        continuing scan: ScanID?,
        maximumCount: Int
    ) throws(StatusError) -> ScanOutcome<[SyncEffect]> {
        guard query.targetLimit == nil else { return .complete([]) }
        switch try store.run(query, usesTargetKeys: true, continuing: scan, maximumCount: maximumCount) {
        case .complete(let result):
            var changed: [DocumentPath] = []
            for (path, document) in result.documents where !paths.contains(path) {
                if let document, !document.hasLocalMutations, query.match(document) != nil { changed.append(path) }
            }
            if !changed.isEmpty { effects.append(.readDocuments(changed.sorted())) }
            return .complete(takeEffects())
        case .incomplete(let scan):
            return .incomplete(scan)
        }
    }
}

// MARK: Views

extension SyncEngine {
    private mutating func openView(
        _ query: ViewQuery,
        continuing scan: ScanID?,
        maximumCount: Int
    ) throws(StatusError) -> ScanOutcome<ViewID> {
        let result: LocalStore<Cache>.QueryResult
        switch try store.run(query, usesTargetKeys: true, continuing: scan, maximumCount: maximumCount) {
        case .complete(let complete): result = complete
        case .incomplete(let scan): return .incomplete(scan)
        }
        let target = try store.allocate(query.target)
        let id = nextViewID()
        let view = View(query, targetKeys: result.targetKeys)
        var state = ViewState(view, targetID: target.id, hasCachedResult: target.token != nil)
        let isCurrent = viewIDs(of: target.id).contains { views[$0]?.view.isCurrent == true }
        let outcome = state.open(result.documents, isCurrent: isCurrent)
        views[id] = state
        viewIDs[query] = id
        limbo.enter(outcome.enteredLimbo, in: id)
        startLimboReads()
        if let snapshot = outcome.snapshot { store.updateViews(adding: snapshot.documents.map(\.path), removing: []) }
        return .complete(id)
    }

    private mutating func closeView(_ id: ViewID) {
        guard let state = views.removeValue(forKey: id) else { return }
        viewIDs[state.view.query] = nil
        limbo.remove(id)
        startLimboReads()
        store.updateViews(adding: [], removing: state.view.shownDocuments.map(\.path))
        endRefill(of: id)
    }

    func viewIDs(of target: TargetID) -> [ViewID] {
        views.filter { $0.value.targetID == target }.keys.sorted()
    }

    private mutating func release(_ target: TargetID) {
        attempt { (engine) throws(StatusError) in try engine.store.release([target]) }
    }

    /// Brings all views up to date after changes of documents, and raises the events.
    ///
    /// - Parameter isWithdrawal: True if the documents change since local writes are rejected, or those of another user.
    mutating func refreshViews(
        _ documents: LocalStore<Cache>.LocalDocuments,
        _ event: RemoteEvent? = nil,
        isWithdrawal: Bool = false
    ) {
        let withdrawn = isWithdrawal ? Set(documents.keys) : []
        for case (let path, let document?) in documents where document.hasCommittedMutations {
            heldPaths[path] = document.version
        }
        // Most snapshots of a stream only move its position.
        guard !documents.isEmpty || !heldPaths.isEmpty || event?.targets.isEmpty == false else { return }
        var snapshots: [(ViewID, ViewSnapshot)] = []
        let collections = Set(documents.keys.lazy.map(\.collection))
        for id in views.keys.sorted() {
            guard let state = views[id] else { continue }
            let target = event?.targets[state.targetID]
            let released = releasedPaths(for: id, event)
            let isConcerned = state.view.query.target.mayCover(documents, in: collections)
            guard target != nil || isConcerned || !released.isEmpty else { continue }
            let hasToken = target.map { $0.token != nil } ?? event.map { follows(state.targetID, $0) } ?? false
            var documents = documents
            if !released.isEmpty {
                attempt { (engine) throws(StatusError) in
                    documents.merge(try engine.store.documents(at: released)) { known, _ in known }
                }
            }
            var outcome = views[id]?.refresh(
                documents,
                releasing: released,
                withdrawing: withdrawn,
                target,
                hasToken: hasToken
            )
            if views[id]?.view.needsRefill == true, refills[id] == nil {
                refills.add(id)
                outcome = refill(id, maximumCount: maximumRefillCount)
            }
            guard let outcome else { continue }
            limbo.leave(outcome.leftLimbo, in: id)
            limbo.enter(outcome.enteredLimbo, in: id)
            if let snapshot = outcome.snapshot { snapshots.append((id, snapshot)) }
        }
        finishRound(snapshots)
    }

    /// Raises the events for the new snapshots of a round.
    mutating func finishRound(_ snapshots: [(ViewID, ViewSnapshot)]) {
        raise(snapshots)
        startLimboReads()
        for (id, snapshot) in snapshots { record(snapshot, of: id) }
        if !heldPaths.isEmpty {
            heldPaths = heldPaths.filter { path, _ in views.values.contains { $0.view.isPending(path) } }
        }
    }

    /// Returns whether the position of an event holds for a target that it does not name.
    func follows(_ target: TargetID, _ event: RemoteEvent) -> Bool {
        event.token != nil && store.stream.targets.contains(target)
    }

    /// Returns the pending documents of a view whose acknowledged writes its target has passed, or will not deliver without a stream.
    ///
    /// A document that left the target before the stream came that far is never delivered by it.
    private func releasedPaths(for id: ViewID, _ event: RemoteEvent?) -> Set<DocumentPath> {
        guard !heldPaths.isEmpty, let state = views[id] else { return [] }
        guard connection.isOpen(state.targetID) else { return Set(heldPaths.keys.filter { state.view.isPending($0) }) }
        let target = event?.targets[state.targetID]
        guard target?.isCurrent ?? state.view.isCurrent else { return [] }
        let position = target == nil ? store.activeTarget(state.targetID)?.snapshotTime : event?.time
        guard let position else { return [] }
        return Set(heldPaths.filter { $0.value <= position && state.view.isPending($0.key) }.keys)
    }

    /// Raises the events for the snapshots of one round.
    mutating func raise(_ snapshots: [(ViewID, ViewSnapshot)]) {
        var raised: [SyncEffect] = []
        for (id, snapshot) in snapshots {
            let connection = connection(of: id)
            raised += views[id]?.raise(snapshot, connection) ?? []
        }
        raise(raised)
    }

    /// Records which documents a view shows, and that it was synced.
    private mutating func record(_ snapshot: ViewSnapshot, of id: ViewID) {
        store.updateViews(
            adding: snapshot.changes.filter { $0.kind == .added }.map(\.document.path),
            removing: snapshot.changes.filter { $0.kind == .removed }.map(\.document.path)
        )
        guard !snapshot.isFromCache, let target = views[id]?.targetID else { return }
        attempt { (engine) throws(StatusError) in try engine.store.markSynced(target) }
    }

    mutating func startLimboReads() {
        let paths = limbo.startReads()
        if !paths.isEmpty, connection.isEnabled { effects.append(.readDocuments(paths)) }
    }
}
