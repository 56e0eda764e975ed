import Foundation
import Synchronization
import Testing
import TransportTestSupport

@testable import HearthClient

@Suite("Listeners with ID tokens", .timeLimit(.minutes(10)))
struct CredentialListenerTests {
    private let provider = TestTokenProvider()

    /// Returns a response with the open frame and others, after which the stream stays open, unless they end it.
    private static func stream(_ frames: [String], end: String? = nil) -> StubServer.Response {
        .stream { stream in
            for frame in [StreamFrames.open] + frames { stream.send(frame) }
            if let end { stream.send(end) } else { stream.waitUntilClosed() }
        }
    }

    /// Returns a response with the document `a/b`.
    private static func document(_ n: Int, token: String, end: String? = nil) -> StubServer.Response {
        stream(StreamFrames.document("a/b", n, token: token), end: end)
    }

    /// The calls of a listener: the field `n` of each snapshot, or the name of the error's code.
    private func events(_ db: Firestore) -> (AsyncStream<String>.Iterator, any ListenerRegistration) {
        let (events, event) = AsyncStream.makeStream(of: String.self)
        let registration = db.document("a/b").addSnapshotListener { snapshot, error in
            event.yield(error.map { "\(FirestoreErrorCode($0)?.code ?? .OK)" } ?? "\(snapshot?.get("n") ?? "-")")
        }
        return (events.makeAsyncIterator(), registration)
    }

    @Test func `A listener continues with a new token when the old one expires`() async throws {
        let server = try StubServer { request in
            switch (request.token, request.resume) {
            case ("t1", nil): Self.document(1, token: "r1", end: StreamFrames.expired)
            case ("t2", "r1"): Self.document(2, token: "r2", end: StreamFrames.expired)
            case ("t3", "r2"): Self.document(3, token: "r3")
            default: .permissionDenied
            }
        }
        let db = server.firestore(.idToken(provider))
        var (events, registration) = events(db)
        for expected in ["1", "2", "3"] { #expect(await events.next() == expected) }
        #expect(provider.requests == [false, true, true])
        registration.remove()
        try await db.terminate()
    }

    @Test func `A listener whose token is refused when it reconnects gets a new one`() async throws {
        let server = try StubServer { request in
            switch (request.token, request.resume) {
            // The stream breaks without an end frame.
            case ("t1", nil):
                .stream { stream in
                    for frame in [StreamFrames.open] + StreamFrames.document("a/b", 1, token: "r1") { stream.send(frame) }
                }
            case ("t1", "r1"): .unauthenticated
            case ("t2", "r1"): Self.document(2, token: "r2")
            default: .permissionDenied
            }
        }
        let db = server.firestore(.idToken(provider))
        var (events, registration) = events(db)
        #expect(await events.next() == "1")
        #expect(await events.next() == "2")
        #expect(server.tokens == ["t1", "t1", "t2"])
        registration.remove()
        try await db.terminate()
    }

    @Test func `A listener whose new token is refused, too, gets one error`() async throws {
        let server = try StubServer { request in
            request.token == "t1"
                ? Self.document(1, token: "r1", end: StreamFrames.expired) : .unauthenticated
        }
        let db = server.firestore(.idToken(provider))
        var (events, _) = events(db)
        #expect(await events.next() == "1")
        #expect(await events.next() == "unauthenticated")
        let count = server.requests.count
        #expect(server.tokens == ["t1", "t2", "t3"])
        try await Task.sleep(for: .milliseconds(300))
        #expect(server.requests.count == count)
        try await db.terminate()
    }

    @Test func `A listener whose streams end for their tokens at once gets one error`() async throws {
        let server = try StubServer { _ in Self.stream([], end: StreamFrames.expired) }
        let db = server.firestore(.idToken(provider))
        var (events, _) = events(db)
        #expect(await events.next() == "unauthenticated")
        #expect(server.tokens == ["t1", "t2"])
        try await db.terminate()
    }

    @Test func `A denied listener gets one error, before or after its start`() async throws {
        for response in [
            .permissionDenied, Self.document(1, token: "r1", end: StreamFrames.denied),
        ] as [StubServer.Response] {
            let server = try StubServer { _ in response }
            let db = server.firestore(.idToken(provider))
            var (events, _) = events(db)
            var event = await events.next()
            if event == "1" { event = await events.next() }
            #expect(event == "permissionDenied")
            try await Task.sleep(for: .milliseconds(300))
            #expect(server.requests.count == 1)
            try await db.terminate()
        }
    }

    @Test func `A listener reconnects for the next user without a gap or repetition`() async throws {
        let server = try StubServer { request in
            switch (request.token, request.resume) {
            case ("t1", nil): Self.document(1, token: "r1")
            case ("t2", "r1"): Self.document(2, token: "r2")
            case ("t3", "r2"): .permissionDenied
            default: .unauthenticated
            }
        }
        let db = server.firestore(.idToken(provider))
        var (events, _) = events(db)
        #expect(await events.next() == "1")
        db.credentialDidChange()
        #expect(await events.next() == "2")
        #expect(provider.requests == [false, false])
        db.credentialDidChange()
        #expect(await events.next() == "permissionDenied")
        #expect(server.tokens == ["t1", "t2", "t3"])
        try await db.terminate()
    }

    @Test func `A change of user reconnects many listeners with one token, in one stream`() async throws {
        let server = try StubServer { request in
            request.resume == nil
                ? Self.document(1, token: "r1")
                : Self.document(2, token: "r2")
        }
        let db = server.firestore(.idToken(provider))
        let listeners = (0..<20).map { _ in events(db) }
        var iterators = listeners.map(\.0)
        for index in iterators.indices { #expect(await iterators[index].next() == "1") }
        db.credentialDidChange()
        for index in iterators.indices { #expect(await iterators[index].next() == "2") }
        #expect(provider.requests == [false, false])
        #expect(server.tokens == ["t1", "t2"])
        try await db.terminate()
    }

    @Test func `An error of the provider is temporary for a listener`() async throws {
        let server = try StubServer { _ in Self.document(1, token: "r1") }
        provider.fail(with: URLError(.notConnectedToInternet))
        let db = server.firestore(.idToken(provider))
        var (events, _) = events(db)
        try await provider.waitForRequests(3)
        provider.fail(with: nil)
        #expect(await events.next() == "1")
        try await db.terminate()
    }

    @Test func `A change of user ends the delay before the next attempt`() async throws {
        // A busy machine may stand still for as long as the delay, but not each time.
        for _ in 0..<5 where try await timeToEvent(afterFailures: 8) < .seconds(6) { return }
        Issue.record("The delay of 6.4 seconds or more was not ended")
    }

    /// Returns the time to the first event after a change of user, while the provider has failed several times.
    private func timeToEvent(afterFailures count: Int) async throws -> Duration {
        let server = try StubServer { _ in Self.document(1, token: "r1") }
        let provider = TestTokenProvider()
        provider.fail(with: URLError(.notConnectedToInternet))
        let db = server.firestore(.idToken(provider))
        var (events, _) = events(db)
        try await provider.waitForRequests(count)
        try await Task.sleep(for: .milliseconds(50))
        provider.fail(with: nil)
        let start = ContinuousClock.now
        db.credentialDidChange()
        #expect(await events.next() == "1")
        let time = start.duration(to: .now)
        try await db.terminate()
        return time
    }

    @Test func `A listener that waits for the provider can be removed, and the database terminated`() async throws {
        let server = try StubServer { _ in .permissionDenied }
        provider.hold()
        let db = server.firestore(.idToken(provider))
        let (_, registration) = events(db)
        _ = events(db)
        try await provider.waitForRequests(1)
        registration.remove()
        try await db.terminate()
        #expect(server.requests.isEmpty)
        provider.release()
    }

    @Test func `The first change of the credential only establishes the user, unless there is a listener`() async throws {
        let server = try StubServer { _ in Self.document(1, token: "t") }
        let db = server.firestore(.idToken(provider))
        let unknown = try #require(db.user)
        db.credentialDidChange()
        #expect(db.user == unknown)
        var (events, registration) = events(db)
        #expect(await events.next() == "1")
        db.credentialDidChange()
        #expect(db.user != unknown)
        registration.remove()
        try await db.terminate()
    }
}
