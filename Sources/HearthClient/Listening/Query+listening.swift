internal import DocumentModel

extension Query {
    /// Calls back with the result, and again with every change of it, on the queue of the settings.
    ///
    /// The first call always comes, also for an empty result. A broken connection is mended without a word, and without a
    /// change left out or told twice. An error is the last call.
    @discardableResult
    public func addSnapshotListener(_ listener: @escaping (QuerySnapshot?, (any Error)?) -> Void) -> any ListenerRegistration {
        addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
    }

    /// Calls back with the result, and again with every change of it. Metadata never change.
    @discardableResult
    public func addSnapshotListener(
        includeMetadataChanges: Bool,
        listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let options = SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges)
        return addSnapshotListener(options: options, listener: listener)
    }

    /// Calls back with the result, and again with every change of it.
    @discardableResult
    public func addSnapshotListener(
        options: SnapshotListenOptions,
        listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        listen(from: options.source, listener)
    }

    /// The result, and again with every change of it.
    public var snapshots: QuerySnapshotsSequence {
        snapshots(includeMetadataChanges: false)
    }

    /// The result, and again with every change of it. Metadata never change.
    public func snapshots(includeMetadataChanges: Bool) -> QuerySnapshotsSequence {
        sequence
    }
}

extension Query: Listenable {
    func follow(_ receive: (QuerySnapshot) -> Void) async throws(FirestoreError) {
        let (query, normalized) = try firestoreErrors(checked)
        var result = QueryResult(of: normalized, in: firestore)
        var isFirst = true
        try await Listener(firestore: firestore, target: query.watchTarget).run { update in
            let damagedBefore = result.damaged
            let changes = result.apply(update)
            guard isFirst || !changes.isEmpty || damagedBefore != result.damaged else { return }
            isFirst = false
            let damaged = result.damaged.map { FirestoreError($0.error) }
            receive(QuerySnapshot(self, result.documents, changes: changes, damaged: damaged))
        }
    }
}

extension DocumentModel.Query {
    /// A whole collection is watched as such: that needs no index.
    fileprivate var watchTarget: WatchTarget {
        wholeCollection.map { .collection($0) } ?? .query(self)
    }
}
