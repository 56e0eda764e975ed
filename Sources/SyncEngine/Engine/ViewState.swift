internal import DocumentModel

/// A view in the engine. IDs grow, so that views are processed in the order in which they were created.
typealias ViewID = Int

/// A view with its listeners.
struct ViewState {
    var targetID: TargetID
    private(set) var view: View
    private(set) var listeners: [QueryListener] = []
    private var hasCachedResult: Bool

    init(_ view: View, targetID: TargetID, hasCachedResult: Bool) {
        self.view = view
        self.targetID = targetID
        self.hasCachedResult = hasCachedResult
    }

    /// True if a listener wants the server's documents, not only those of the cache.
    var needsTarget: Bool { listeners.contains { !$0.options.isCacheOnly } }

    /// Computes the first result.
    ///
    /// - Parameter isCurrent: True if another view of the target is up to date.
    mutating func open(_ documents: [DocumentPath: LocalDocument?], isCurrent: Bool) -> View.Outcome {
        view.apply(
            view.update(for: documents),
            target: RemoteEvent.TargetChange(isCurrent: isCurrent),
            hasCachedResult: hasCachedResult
        )
    }

    /// Computes the result after changes of documents or of the target.
    ///
    /// - Parameters:
    ///   - released: The documents whose acknowledged writes the target has passed.
    ///   - withdrawn: The documents whose local writes are withdrawn.
    ///   - hasToken: True if the target has a resume token after the changes.
    ///   - refill: Returns the documents of the query in the cache, if the result needs others.
    mutating func refresh(
        _ documents: [DocumentPath: LocalDocument?],
        releasing released: Set<DocumentPath>,
        withdrawing withdrawn: Set<DocumentPath>,
        _ target: RemoteEvent.TargetChange?,
        hasToken: Bool,
        refill: (ViewQuery) -> [DocumentPath: LocalDocument?]
    ) -> View.Outcome {
        var update = view.update(for: documents, releasing: released, withdrawing: withdrawn)
        if update.needsRefill {
            let documents = refill(view.query)
            update = view.update(for: documents, releasing: released, withdrawing: withdrawn, refilling: update)
        }
        let outcome = view.apply(update, target: target, hasCachedResult: hasToken)
        if outcome.snapshot != nil { hasCachedResult = hasToken }
        return outcome
    }

    mutating func goOffline() -> View.Outcome {
        view.goOffline()
    }
}

// MARK: Listeners

extension ViewState {
    mutating func add(_ listener: QueryListener, while onlineState: OnlineState) -> [SyncEffect] {
        listeners.append(listener)
        return raiseFirstEvents(while: onlineState)
    }

    mutating func remove(_ id: ListenerID) {
        listeners.removeAll { $0.id == id }
    }

    /// Returns the events for a snapshot.
    mutating func raise(_ snapshot: ViewSnapshot, while onlineState: OnlineState) -> [SyncEffect] {
        listeners.indices.compactMap { index in
            let event = listeners[index].event(for: snapshot, while: onlineState)
            return event.map { .raise(listeners[index].id, $0) }
        }
    }

    /// Returns the first events of the listeners that have waited for the result or for the state of the connection.
    mutating func raiseFirstEvents(while onlineState: OnlineState) -> [SyncEffect] {
        guard listeners.contains(where: \.isWaiting) else { return [] }
        let snapshot = view.snapshot(hasCachedResult: hasCachedResult)
        return listeners.indices.compactMap { index in
            let event = listeners[index].firstEvent(for: snapshot, while: onlineState)
            return event.map { .raise(listeners[index].id, $0) }
        }
    }
}
