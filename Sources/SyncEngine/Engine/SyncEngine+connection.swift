package import DocumentModel

extension SyncEngine {
    /// Applies a snapshot, or the answer to a read.
    ///
    /// Changes of targets that are not open are ignored. The documents are not: each has its version.
    package mutating func apply(_ event: RemoteEvent) throws(StatusError) -> [SyncEffect] {
        var event = event
        event.targets = event.targets.filter { connection.isEnabled && connection.isOpen($0.key) }
        if !connection.isEnabled { event.token = nil }
        let documents = try store.apply(event)
        if !event.targets.isEmpty || event.token != nil { answer() }
        limbo.answer(event.answeredReads, at: event.time)
        refreshViews(documents, event)
        // A target that has nothing new has answered as well.
        if !event.targets.isEmpty {
            raiseFirstEvents(of: views.filter { event.targets[$0.value.targetID] != nil }.keys.sorted())
        }
        let followers = event.token == nil ? [] : store.stream.targets
        let reread = limbo.restartReads(at: event.time) { [views] id in
            views[id].map { event.targets[$0.targetID] != nil || followers.contains($0.targetID) } ?? false
        }
        if !reread.isEmpty, connection.isEnabled { effects.append(.readDocuments(reread)) }
        return takeEffects()
    }

    /// Records the first message of the stream: the client is online.
    package mutating func streamAnswered() -> [SyncEffect] {
        answer()
        return takeEffects()
    }

    /// Records the end of the stream with an error that does not reject its targets. The effects open them anew.
    package mutating func streamClosed() -> [SyncEffect] {
        guard !connection.isIdle, connection.isEnabled else { return [] }
        updateConnection { $0.fail() }
        reopenTargets()
        return takeEffects()
    }

    /// Records that the server has ended a target with an error that may pass. What the stream tells of others does not hold for it.
    package mutating func targetInterrupted(_ target: TargetID) -> [SyncEffect] {
        guard connection.isEnabled, connection.isOpen(target) else { return [] }
        store.leaveStream(target)
        // Its listeners see what the cache has, as without a connection.
        presentOffline(viewIDs(of: target), as: .offline)
        return takeEffects()
    }

    /// Opens such a target again, unless it has been closed.
    package mutating func reopenTarget(_ target: TargetID) -> [SyncEffect] {
        guard connection.isEnabled, connection.isOpen(target) else { return [] }
        requestTarget(target)
        return takeEffects()
    }

    /// Records the end of the timer: the client counts as offline.
    package mutating func onlineStateTimerFired() -> [SyncEffect] {
        updateConnection { $0.tracker.fireTimer() }
        return takeEffects()
    }

    /// Ends the stream and all sends, and counts as offline, until the network is enabled again.
    package mutating func disableNetwork() -> [SyncEffect] {
        guard connection.isEnabled else { return [] }
        connection.isEnabled = false
        for target in connection.openTargets { effects.append(.closeTarget(target)) }
        if pipeline.reset() { effects.append(.stopSending) }
        updateConnection { $0.reset(to: .offline) }
        return takeEffects()
    }

    /// Opens the targets again, and sends what is queued.
    package mutating func enableNetwork() throws(StatusError) -> [SyncEffect] {
        guard !connection.isEnabled else { return [] }
        connection.isEnabled = true
        updateConnection { $0.reset(to: .unknown) }
        reopenTargets()
        let unanswered = limbo.unanswered
        if !unanswered.isEmpty { effects.append(.readDocuments(unanswered)) }
        attemptToFillPipeline()
        return takeEffects()
    }

    /// False while the application has disabled the network.
    package var isNetworkEnabled: Bool { connection.isEnabled }

    /// The documents in limbo that are being read.
    package var limboDocuments: Set<DocumentPath> { limbo.activePaths }

    /// The documents in limbo that wait for others to be read.
    package var waitingLimboDocuments: Set<DocumentPath> { limbo.waitingPaths }
}

// MARK: Targets

extension SyncEngine {
    mutating func openTarget(_ id: TargetID) {
        guard !connection.isOpen(id) else { return }
        let wasIdle = connection.isIdle
        connection.open(id)
        guard connection.isEnabled else { return }
        if wasIdle { updateConnection { $0.tracker.startAttempt() } }
        requestTarget(id)
    }

    mutating func closeTarget(_ id: TargetID) {
        guard connection.isOpen(id) else { return }
        connection.close(id)
        store.leaveStream(id)
        guard connection.isEnabled else { return }
        effects.append(.closeTarget(id))
        if connection.isIdle { updateConnection { $0.reset(to: .unknown) } }
    }

    mutating func reopenTargets() {
        guard !connection.isIdle else { return }
        if onlineState != .online { updateConnection { $0.tracker.startAttempt() } }
        for id in connection.openTargets { requestTarget(id) }
    }

    private mutating func requestTarget(_ id: TargetID) {
        store.leaveStream(id)
        guard let target = store.activeTargets[id] else { return }
        let time = target.token == nil ? target.snapshotTime : nil
        let count = time.flatMap { _ in
            try? store.transaction { (cache: inout Cache) throws(StatusError) in try cache.keys(of: id).count }
        }
        let request = TargetRequest(id: id, target: target.target, token: target.token, time: time, count: count)
        effects.append(.openTarget(request))
    }
}

// MARK: Online state

extension SyncEngine {
    mutating func answer() {
        if connection.isEnabled { updateConnection { $0.answer() } }
    }

    /// Changes the state of the connection, and tells the views and waiting listeners.
    mutating func updateConnection(_ change: (inout ConnectionState) -> Void) {
        let previous = connection.tracker
        change(&connection)
        let tracker = connection.tracker
        if tracker.isTimerRunning != previous.isTimerRunning {
            effects.append(tracker.isTimerRunning ? .startOnlineStateTimer : .stopOnlineStateTimer)
        }
        guard tracker.state != previous.state else { return }
        if tracker.state == .offline {
            presentOffline(views.keys.sorted())
        } else {
            raiseFirstEvents(of: views.keys.sorted())
        }
    }

    /// Marks views as not up to date, since no stream tells them of changes.
    ///
    /// - Parameter onlineState: The state in which their listeners find the client; `nil` for the one in which it is.
    mutating func presentOffline(_ ids: [ViewID], as onlineState: OnlineState? = nil) {
        var snapshots: [(ViewID, ViewSnapshot)] = []
        for id in ids where views[id]?.view.isCurrent == true {
            if let snapshot = views[id]?.goOffline().snapshot { snapshots.append((id, snapshot)) }
        }
        // Views that lack documents are presented when they have been refilled.
        if onlineState == .offline { for id in ids { refills.interrupt(id) } }
        raiseFirstEvents(of: ids, as: onlineState)
        raise(snapshots)
    }

    /// Raises the first events of the listeners of views that have waited for them.
    ///
    /// - Parameter assumed: The state in which their listeners find the client; `nil` for the one in which it is.
    mutating func raiseFirstEvents(of ids: [ViewID], as assumed: OnlineState? = nil) {
        var raised: [SyncEffect] = []
        for id in ids {
            var connection = connection(of: id)
            if let assumed { connection.onlineState = assumed }
            raised += views[id]?.raiseFirstEvents(connection) ?? []
        }
        raise(raised)
    }

    /// Returns the state of the connection for the listeners of a view.
    func connection(of id: ViewID) -> ViewConnection {
        let target = views[id]?.targetID
        return ViewConnection(onlineState: onlineState, hasAnswered: target.map { store.stream.targets.contains($0) } ?? false)
    }
}
