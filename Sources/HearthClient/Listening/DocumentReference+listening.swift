internal import Dispatch
internal import DocumentModel

extension DocumentReference {
    /// Calls back with the document, and again with every change of it, on the queue of the settings.
    ///
    /// The first call always comes, also for a document that doesn't exist. A broken connection is mended without a word, and
    /// without a change left out or told twice. An error is the last call.
    @discardableResult
    public func addSnapshotListener(_ listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void) -> ListenerRegistration {
        addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
    }

    /// Calls back with the document, and again with every change of it. Metadata never change.
    @discardableResult
    public func addSnapshotListener(
        includeMetadataChanges: Bool,
        listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) -> ListenerRegistration {
        let options = SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges)
        return addSnapshotListener(options: options, listener: listener)
    }

    /// Calls back with the document, and again with every change of it.
    @discardableResult
    public func addSnapshotListener(
        options: SnapshotListenOptions,
        listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) -> ListenerRegistration {
        let registration = ListenerRegistration()
        listen(from: options.source, registration, registration.calling(listener, on: firestore.callbackQueue))
        return registration
    }

    /// The document, and again with every change of it.
    public var snapshots: DocumentSnapshotsSequence {
        snapshots(includeMetadataChanges: false)
    }

    /// The document, and again with every change of it. Metadata never change.
    public func snapshots(includeMetadataChanges: Bool) -> DocumentSnapshotsSequence {
        DocumentSnapshotsSequence { receive in
            let registration = ListenerRegistration()
            self.listen(from: .default, registration, receive)
            return registration
        }
    }

    private func listen(
        from source: ListenSource,
        _ registration: ListenerRegistration,
        _ receive: @escaping @Sendable (Result<DocumentSnapshot, any Error>) -> Void
    ) {
        let listener = Listener(firestore: firestore, target: .document(documentPath))
        registration.start {
            var shown: Document??
            do throws(FirestoreError) {
                try source.check()
                try await listener.runReportingErrors { update in
                    let document = update.document(at: self.documentPath)
                    guard shown == nil || shown != .some(document) else { return }
                    shown = .some(document)
                    receive(.success(DocumentSnapshot(document, of: self)))
                }
            } catch {
                receive(.failure(error))
            }
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
