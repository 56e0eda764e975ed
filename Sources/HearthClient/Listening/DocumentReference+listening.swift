internal import DocumentModel

extension DocumentReference {
    /// Calls back with the document, and again with every change of it, on the queue of the settings.
    ///
    /// The first call always comes, also for a document that doesn't exist. A broken connection is mended without a word, and
    /// without a change left out or told twice. An error is the last call.
    @discardableResult
    public func addSnapshotListener(_ listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void) -> any ListenerRegistration {
        addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
    }

    /// Calls back with the document, and again with every change of it. Metadata never change.
    @discardableResult
    public func addSnapshotListener(
        includeMetadataChanges: Bool,
        listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let options = SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges)
        return addSnapshotListener(options: options, listener: listener)
    }

    /// Calls back with the document, and again with every change of it.
    @discardableResult
    public func addSnapshotListener(
        options: SnapshotListenOptions,
        listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        listen(from: options.source, listener)
    }

    /// The document, and again with every change of it.
    public var snapshots: DocumentSnapshotsSequence {
        snapshots(includeMetadataChanges: false)
    }

    /// The document, and again with every change of it. Metadata never change.
    public func snapshots(includeMetadataChanges: Bool) -> DocumentSnapshotsSequence {
        sequence
    }
}

extension DocumentReference: Listenable {
    func follow(_ receive: (DocumentSnapshot) -> Void) async throws(FirestoreError) {
        var shown: Document??
        try await Listener(firestore: firestore, target: .document(documentPath)).run { update in
            let document = update.document(at: documentPath)
            guard shown == nil || shown != .some(document) else { return }
            shown = .some(document)
            receive(DocumentSnapshot(document, of: self))
        }
    }
}

extension WatchedState.Update {
    fileprivate func document(at path: DocumentPath) -> Document? {
        switch self {
        case .everything(let documents, _): documents[path]
        case .changes(let changes, _): changes[path] ?? nil
        }
    }
}
