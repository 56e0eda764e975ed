import Synchronization
import Testing
import TransportTestSupport

@testable import HearthClient

@Suite("Listeners without a cache", .timeLimit(.minutes(10)))
struct UncachedListenerTests {
    /// The calls of a listener.
    private func events(_ path: String, of db: Firestore) -> (AsyncStream<DocumentSnapshot>.Iterator, any ListenerRegistration) {
        let (events, event) = AsyncStream.makeStream(of: DocumentSnapshot.self)
        let registration = db.document(path).addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
            if let snapshot { event.yield(snapshot) }
        }
        return (events.makeAsyncIterator(), registration)
    }

    @Test func `A listener is silent while the server is away, before its first snapshot and after`() async throws {
        let attempts = Mutex(0)
        let server = try StubServer { _ in
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            switch attempt {
            case 1, 2, 4, 5: return .unavailable(retryAfter: nil)
            case 3:
                // The stream breaks after it.
                return .stream { stream in
                    for frame in [StreamFrames.open] + StreamFrames.document("a/b", 1) { stream.send(frame) }
                }
            default:
                return .stream { stream in
                    for frame in [StreamFrames.open] + StreamFrames.document("a/b", 2) { stream.send(frame) }
                    stream.waitUntilClosed()
                }
            }
        }
        let db = server.firestore(nil)
        var (events, registration) = events("a/b", of: db)
        for n in [1, 2] {
            let snapshot = try #require(await events.next())
            #expect(snapshot.get("n") as? Int == n && !snapshot.metadata.isFromCache && !snapshot.metadata.hasPendingWrites)
        }
        #expect(attempts.withLock(\.self) == 6)
        registration.remove()
        try await db.terminate()
    }

    @Test func `A listener waits for writes that were made before it`() async throws {
        let server = try StubServer { request in
            guard request.path == "/watch" else { return .committed }
            return .stream { stream in
                for frame in [StreamFrames.open] + StreamFrames.document("a/b", 1) { stream.send(frame) }
                stream.waitUntilClosed()
            }
        }
        let db = server.firestore(nil)
        db.document("a/b").setData(["n": 1], completion: nil)
        var (events, registration) = events("a/b", of: db)
        #expect(try #require(await events.next()).exists)
        #expect(server.requests.map(\.path) == ["/rpc", "/watch"])
        registration.remove()
        try await db.terminate()
    }

    @Test func `A listener to the cache fails, and one of an instance that has ended`() async throws {
        let server = try StubServer { _ in .unavailable(retryAfter: nil) }
        let db = server.firestore(nil)
        let (errors, error) = AsyncStream.makeStream(of: FirestoreErrorCode.Code?.self)
        var iterator = errors.makeAsyncIterator()
        let document = db.document("a/b")
        func listen(_ options: SnapshotListenOptions) {
            document.addSnapshotListener(options: options) { _, failure in
                error.yield(failure.flatMap { FirestoreErrorCode($0)?.code })
            }
        }
        listen(SnapshotListenOptions().withSource(.cache))
        #expect(await iterator.next() == .unavailable)
        try await db.terminate()
        listen(SnapshotListenOptions())
        #expect(await iterator.next() == .failedPrecondition)
        #expect(server.requests.isEmpty)
    }
}
