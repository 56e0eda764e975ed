/// Snapshots as they come: the first one at once, and then one for every change.
///
/// Each iteration listens for itself, and ends when its task is cancelled. An error of the listener is thrown, and is the end.
/// Snapshots that are not taken yet wait; none is left out, since each says what has changed since the one before.
public struct SnapshotSequence<Snapshot: Sendable>: AsyncSequence, Sendable {
    /// A snapshot.
    public typealias Element = Snapshot
    /// What ends the listener.
    public typealias Failure = any Error

    private let listen: @Sendable (@escaping @Sendable (Result<Snapshot, any Error>) -> Void) -> any ListenerRegistration

    init(_ listen: @escaping @Sendable (@escaping @Sendable (Result<Snapshot, any Error>) -> Void) -> any ListenerRegistration) {
        self.listen = listen
    }

    /// Begins to listen.
    public func makeAsyncIterator() -> Iterator {
        let stream = AsyncThrowingStream<Snapshot, any Error> { continuation in
            let registration = listen { result in
                switch result {
                case .success(let snapshot): continuation.yield(snapshot)
                case .failure(let error): continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in registration.remove() }
        }
        return Iterator(stream: stream.makeAsyncIterator())
    }

    /// Takes snapshots one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var stream: AsyncThrowingStream<Snapshot, any Error>.Iterator

        /// Waits for the next snapshot; nil once the task is cancelled.
        public mutating func next() async throws -> Snapshot? {
            try await stream.next()
        }

        /// Waits for the next snapshot; nil once the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Snapshot? {
            try await stream.next(isolation: actor)
        }
    }
}

/// The snapshots of a query.
public typealias QuerySnapshotsSequence = SnapshotSequence<QuerySnapshot>
/// The snapshots of a document.
public typealias DocumentSnapshotsSequence = SnapshotSequence<DocumentSnapshot>
