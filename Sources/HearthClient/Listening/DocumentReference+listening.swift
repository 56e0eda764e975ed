internal import DocumentModel
internal import SyncEngine

extension DocumentReference {
    /// Adds a listener, which is called on the callback queue with the current document and after every change to it.
    ///
    /// The first call is always made, even for a document that doesn't exist. After a connection failure, the listener reconnects
    /// and resumes without missing or repeating a change. A call with an error is the last one.
    @discardableResult
    public func addSnapshotListener(_ listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void) -> any ListenerRegistration {
        addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
    }

    /// Adds a listener, which is called with the current document and after every change to it.
    @discardableResult
    public func addSnapshotListener(
        includeMetadataChanges: Bool,
        listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let options = SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges)
        return addSnapshotListener(options: options, listener: listener)
    }

    /// Adds a listener, which is called with the current document and after every change to it.
    @discardableResult
    public func addSnapshotListener(
        options: SnapshotListenOptions,
        listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        addListener(options, listener)
    }

    /// The snapshots: the current document, then one after every change to it.
    public var snapshots: DocumentSnapshotsSequence {
        snapshots(includeMetadataChanges: false)
    }

    /// Returns the snapshots: the current document, then one after every change to it.
    public func snapshots(includeMetadataChanges: Bool) -> DocumentSnapshotsSequence {
        snapshotSequence(SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges))
    }
}

extension DocumentReference: Listenable {
    func listen(
        in session: any SyncSession,
        _ options: ListenOptions,
        ended: @escaping @Sendable () -> Void,
        _ receive: @escaping @Sendable (Result<DocumentSnapshot, any Error>) -> Void
    ) throws(FirestoreError) -> ListenerID {
        let query = try firestoreErrors { () throws(StatusError) in try ViewQuery(document: documentPath) }
        return session.listen(to: query, options, ended: ended) { result in
            receive(result.map { self.snapshot($0) }.mapError { FirestoreError($0) })
        }
    }
}
