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
    mutating func refresh(
        _ documents: [DocumentPath: LocalDocument?],
        releasing released: Set<DocumentPath>,
        withdrawing withdrawn: Set<DocumentPath>,
        _ target: RemoteEvent.TargetChange?,
        hasToken: Bool
    ) -> View.Outcome {
        let update = view.update(for: documents, releasing: released, withdrawing: withdrawn)
        let outcome = view.apply(update, target: target, hasCachedResult: hasToken)
        if outcome.snapshot != nil { hasCachedResult = hasToken }
        return outcome
    }

    /// Completes a result that needs a refill from the documents of the query in the cache.
    mutating func refill(with documents: [DocumentPath: LocalDocument?]) -> View.Outcome {
        let outcome = view.refill(with: documents)
        if let snapshot = outcome.snapshot { hasCachedResult = snapshot.hasCachedResult }
        return outcome
    }

    mutating func goOffline() -> View.Outcome {
        view.goOffline()
    }
}

// MARK: Listeners

extension ViewState {
    mutating func add(_ listener: QueryListener, _ connection: ViewConnection) -> [SyncEffect] {
        listeners.append(listener)
        return raiseFirstEvents(connection)
    }

    mutating func remove(_ id: ListenerID) {
        listeners.removeAll { $0.id == id }
    }

    /// Returns the events for a snapshot.
    mutating func raise(_ snapshot: ViewSnapshot, _ connection: ViewConnection) -> [SyncEffect] {
        listeners.indices.compactMap { index in
            let event = listeners[index].event(for: snapshot, connection)
            return event.map { .raise(listeners[index].id, $0) }
        }
    }

    /// Returns the first events of the listeners that have waited for the result or for the state of the connection.
    mutating func raiseFirstEvents(_ connection: ViewConnection) -> [SyncEffect] {
        guard !view.needsRefill, listeners.contains(where: \.isWaiting) else { return [] }
        let snapshot = view.snapshot(hasCachedResult: hasCachedResult)
        return listeners.indices.compactMap { index in
            let event = listeners[index].firstEvent(for: snapshot, connection)
            return event.map { .raise(listeners[index].id, $0) }
        }
    }
}
