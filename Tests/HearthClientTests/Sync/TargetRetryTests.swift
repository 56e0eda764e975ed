import Dispatch
import Foundation
import Synchronization
import Testing
import TransportTestSupport

@testable import HearthClient

/// The stream of a client with a local cache, by a server that says what the tests want.
@Suite("Streams of a client with a cache", .timeLimit(.minutes(10)))
struct TargetRetryTests {
    private static let emptyResult = StubServer.Response.json(status: 200, #"[{"jsonrpc":"2.0","id":0,"result":{}}]"#)

    private func database(_ server: StubServer, _ credential: FirestoreCredential? = nil) -> Firestore {
        let db = server.firestore(credential)
        let settings = db.settings
        settings.cacheSettings = MemoryCacheSettings()
        db.settings = settings
        return db
    }

    /// The calls of a listener: whether each snapshot is from the cache.
    private func events(_ path: String, of db: Firestore) -> (AsyncStream<Bool>.Iterator, any ListenerRegistration) {
        let (events, event) = AsyncStream.makeStream(of: Bool.self)
        let registration = db.document(path).addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
            if let snapshot { event.yield(snapshot.metadata.isFromCache) }
        }
        return (events.makeAsyncIterator(), registration)
    }

    @Test func `A target that a fault of the server has ended is added again, and the others go on meanwhile`() async throws {
        let added = DispatchSemaphore(value: 0)
        let addedID = Mutex("")
        let server = try StubServer { request in
            guard request.path == "/watch" else {
                guard let target = request.targets.first else { return Self.emptyResult }
                addedID.withLock { $0 = target.id }
                added.signal()
                return Self.emptyResult
            }
            let targets = request.targets
            return .stream { stream in
                stream.send(StreamFrames.open)
                for target in targets {
                    for frame in StreamFrames.missing(target.path, target: target.id) { stream.send(frame) }
                }
                let id = targets.first { $0.path == "a/1" }?.id ?? "0"
                let error = #"{"code":-32603,"message":"Internal error","data":{"errorId":"x"}}"#
                stream.send(#"{"type":"targetRemoved","target":\#(id),"error":\#(error)}"#)
                added.wait()
                for frame in StreamFrames.missing("a/1", target: addedID.withLock(\.self)) { stream.send(frame) }
                stream.waitUntilClosed()
            }
        }
        let db = database(server)
        try await db.disableNetwork()
        var (events, registration) = events("a/1", of: db)
        let others = Mutex<[Bool]>([])
        let other = db.document("a/2").addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
            if let snapshot { others.withLock { $0.append(snapshot.metadata.isFromCache) } }
        }
        try await db.enableNetwork()
        // Offline without a document, then current, interrupted, and current again.
        for expected in [true, false, true, false] { #expect(await events.next() == expected) }
        #expect(others.withLock(\.self) == [true, false])
        #expect(server.requests.count { $0.path == "/watch" } == 1)
        registration.remove()
        other.remove()
        try await db.terminate()
    }

    @Test func `A listener whose target fails each time sees what the cache has`() async throws {
        let server = try StubServer { request in
            guard request.path == "/watch" else { return Self.emptyResult }
            let targets = request.targets
            return .stream { stream in
                stream.send(StreamFrames.open)
                for target in targets {
                    let error = #"{"code":-32603,"message":"Internal error","data":{"errorId":"x"}}"#
                    stream.send(#"{"type":"targetRemoved","target":\#(target.id),"error":\#(error)}"#)
                }
                stream.waitUntilClosed()
            }
        }
        let db = database(server)
        var (events, registration) = events("a/1", of: db)
        #expect(await events.next() == true)
        registration.remove()
        try await db.terminate()
    }

    @Test func `A change of user ends the delay before the next attempt`() async throws {
        let provider = TestTokenProvider()
        let isAway = Mutex(true)
        let (attempts, attempt) = AsyncStream.makeStream(of: Void.self)
        let server = try StubServer { request in
            guard !isAway.withLock(\.self) else {
                attempt.yield()
                return .unavailable(retryAfter: "300")
            }
            let targets = request.targets
            return .stream { stream in
                stream.send(StreamFrames.open)
                for target in targets {
                    for frame in StreamFrames.missing(target.path, target: target.id) { stream.send(frame) }
                }
                stream.waitUntilClosed()
            }
        }
        let db = database(server, .idToken(provider))
        var (events, registration) = events("a/1", of: db)
        // The next attempt would be in five minutes.
        for await _ in attempts { break }
        #expect(await events.next() == true)
        isAway.withLock { $0 = false }
        let start = ContinuousClock.now
        db.credentialDidChange()
        while await events.next() == true {}
        #expect(start.duration(to: .now) < .seconds(240))
        registration.remove()
        try await db.terminate()
    }
}
