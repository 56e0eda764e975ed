internal import DocumentModel
internal import HearthWire
internal import SyncEngine

extension Query {
    /// Adds a listener, which is called on the callback queue with the current result and after every change to it.
    ///
    /// The first call is always made, even for an empty result. After a connection failure, the listener reconnects and resumes
    /// without missing or repeating a change. A call with an error is the last one.
    @discardableResult
    public func addSnapshotListener(_ listener: @escaping (QuerySnapshot?, (any Error)?) -> Void) -> any ListenerRegistration {
        addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
    }

    /// Adds a listener, which is called with the current result and after every change to it.
    @discardableResult
    public func addSnapshotListener(
        includeMetadataChanges: Bool,
        listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let options = SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges)
        return addSnapshotListener(options: options, listener: listener)
    }

    /// Adds a listener, which is called with the current result and after every change to it.
    @discardableResult
    public func addSnapshotListener(
        options: SnapshotListenOptions,
        listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        addListener(options, listener)
    }

    /// The snapshots: the current result, then one after every change to it.
    public var snapshots: QuerySnapshotsSequence {
        snapshots(includeMetadataChanges: false)
    }

    /// Returns the snapshots: the current result, then one after every change to it.
    public func snapshots(includeMetadataChanges: Bool) -> QuerySnapshotsSequence {
        snapshotSequence(SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges))
    }
}

extension Query: Listenable {
    func listen(
        in session: any SyncSession,
        _ options: ListenOptions,
        ended: @escaping @Sendable () -> Void,
        _ receive: @escaping @Sendable (Result<QuerySnapshot, any Error>) -> Void
    ) throws(FirestoreError) -> ListenerID {
        let query = try firestoreErrors { () throws(StatusError) in try ViewQuery(definition.get()) }
        let builder = QuerySnapshotBuilder(self)
        return session.listen(to: query, options, ended: ended) { result in
            receive(result.map { builder.snapshot($0) }.mapError { FirestoreError($0) })
        }
    }
}

extension StructuredQuery {
    /// The target to watch. A query for a whole collection is watched as a collection, which doesn't need an index.
    var watchTarget: WatchTarget {
        guard case .collection(let collection) = source, self == StructuredQuery(source) else { return .query(self) }
        return .collection(collection)
    }
}
