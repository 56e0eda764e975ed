#if canImport(Combine)
public import Combine

extension DocumentReference {
    /// Returns a publisher of the snapshots: the current document, then one after every change to it. Each subscription adds a listener.
    public func snapshotPublisher(includeMetadataChanges: Bool = false) -> AnyPublisher<DocumentSnapshot, any Error> {
        listening { self.addSnapshotListener(includeMetadataChanges: includeMetadataChanges, listener: $0) }
    }
}

extension Query {
    /// Returns a publisher of the snapshots: the current result, then one after every change to it. Each subscription adds a listener.
    public func snapshotPublisher(includeMetadataChanges: Bool = false) -> AnyPublisher<QuerySnapshot, any Error> {
        listening { self.addSnapshotListener(includeMetadataChanges: includeMetadataChanges, listener: $0) }
    }
}

/// Returns a publisher that adds a listener for each subscription, and removes it with the subscription.
private func listening<Snapshot>(
    _ listen: @escaping (@escaping (Snapshot?, (any Error)?) -> Void) -> any ListenerRegistration
) -> AnyPublisher<Snapshot, any Error> {
    Deferred {
        let snapshots = PassthroughSubject<Snapshot, any Error>()
        let registration = listen { snapshot, error in
            if let snapshot { snapshots.send(snapshot) }
            if let error { snapshots.send(completion: .failure(error)) }
        }
        return snapshots.handleEvents(receiveCancel: { registration.remove() })
    }
    .eraseToAnyPublisher()
}
#endif
