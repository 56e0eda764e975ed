/// The snapshots of a document or query: the current one, then one after every change.
///
/// Each iteration adds its own listener and ends when its task is cancelled or the database is terminated. An error of the listener is
/// thrown and ends the iteration. Snapshots are buffered without limit. None is dropped, since each describes the changes since the previous
/// one.
public struct SnapshotSequence<Snapshot: Sendable>: AsyncSequence, Sendable {
    /// A snapshot.
    public typealias Element = Snapshot
    /// The error of the listener.
    public typealias Failure = any Error

    /// Adds a listener, whose handler is called with each snapshot, or with an error as the last call.
    ///
    /// - Parameter end: Called when the database is terminated.
    typealias Listen =
        @Sendable (
            _ receive: @escaping @Sendable (Result<Snapshot, any Error>) -> Void,
            _ end: @escaping @Sendable () -> Void
        ) -> any ListenerRegistration

    private let listen: Listen

    init(_ listen: @escaping Listen) {
        self.listen = listen
    }

    /// Adds a listener.
    public func makeAsyncIterator() -> Iterator {
        let stream = AsyncThrowingStream<Snapshot, any Error> { continuation in
            let registration = listen(
                { result in
                    switch result {
                    case .success(let snapshot): continuation.yield(snapshot)
                    case .failure(let error): continuation.finish(throwing: error)
                    }
                },
                { continuation.finish() }
            )
            continuation.onTermination = { _ in registration.remove() }
        }
        return Iterator(stream: stream.makeAsyncIterator())
    }

    /// The iterator over the snapshots.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var stream: AsyncThrowingStream<Snapshot, any Error>.Iterator

        /// Waits for the next snapshot; returns `nil` if the task is cancelled or the database is terminated.
        public mutating func next() async throws -> Snapshot? {
            try await stream.next()
        }

        /// Waits for the next snapshot; returns `nil` if the task is cancelled or the database is terminated.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Snapshot? {
            try await stream.next(isolation: actor)
        }
    }
}

extension Query {
    /// The snapshots of a query.
    public typealias QuerySnapshotsSequence = SnapshotSequence<QuerySnapshot>
}

extension DocumentReference {
    /// The snapshots of a document.
    public typealias DocumentSnapshotsSequence = SnapshotSequence<DocumentSnapshot>
}

extension SnapshotSequence where Snapshot == QuerySnapshot {
    /// Creates the sequence of the snapshots of a query.
    public init(_ query: Query, includeMetadataChanges: Bool) {
        self = query.snapshots(includeMetadataChanges: includeMetadataChanges)
    }
}

extension SnapshotSequence where Snapshot == DocumentSnapshot {
    /// Creates the sequence of the snapshots of a document.
    public init(_ document: DocumentReference, includeMetadataChanges: Bool) {
        self = document.snapshots(includeMetadataChanges: includeMetadataChanges)
    }
}
