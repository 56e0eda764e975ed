import DocumentModel
import Foundation
import Testing
import TransportTestSupport

@testable import HearthTransport

@Suite("ID token cache", .timeLimit(.minutes(10)))
struct IDTokenCacheTests {
    private let provider = TestTokenProvider()
    private let clock = TestWallClock()

    private func cache(maximumRequestDuration: Duration = .seconds(60)) -> IDTokenCache {
        IDTokenCache(provider, maximumRequestDuration: maximumRequestDuration) { [clock] in clock.now }
    }

    private static var deadline: ContinuousClock.Instant { .now + .seconds(60) }

    @Test func `A token is requested once`() async throws {
        let cache = cache()
        for _ in 0..<3 { #expect(try await cache.token(until: Self.deadline).bearer?.text == "t1") }
        #expect(provider.requests == [false])
    }

    @Test func `Concurrent calls share one request, also after a refusal`() async throws {
        let cache = cache()
        provider.hold()
        let first = Task { try await requestTokens(50, from: cache) }
        try await provider.waitForRequests(1)
        provider.release()
        let tokens = try await first.value
        #expect(tokens.map(\.bearer?.text) == Array(repeating: "t1", count: 50))
        for token in tokens { cache.refuse(token) }
        #expect(try await requestTokens(50, from: cache).map(\.bearer?.text) == Array(repeating: "t2", count: 50))
        // A late refusal of the old token doesn't concern the new one.
        cache.refuse(tokens[0])
        #expect(try await cache.token(until: Self.deadline).bearer?.text == "t2")
        #expect(provider.requests == [false, true])
    }

    private func requestTokens(_ count: Int, from cache: IDTokenCache) async throws -> [IDToken] {
        try await withThrowingTaskGroup { group in
            for _ in 0..<count { group.addTask { try await cache.token(until: Self.deadline) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `A token is refreshed in the background before it expires, and waited for afterward`() async throws {
        provider.makeTokens { [clock] in
            unsignedToken(#"{"n":\#($0),"exp":\#(clock.now.timeIntervalSince1970 + 3_600)}"#)
        }
        let cache = cache()
        let first = try await cache.token(until: Self.deadline)
        clock.advance(by: 3_539)
        #expect(try await cache.token(until: Self.deadline).number == first.number)
        #expect(provider.requests == [false])
        provider.hold()
        clock.advance(by: 2)
        for _ in 0..<3 { #expect(try await cache.token(until: Self.deadline).number == first.number) }
        try await provider.waitForRequests(1)
        provider.release()
        while try await cache.token(until: Self.deadline).number == first.number { await Task.yield() }
        #expect(provider.requests == [false, true])
        clock.advance(by: 3_600)
        #expect(try await cache.token(until: Self.deadline).number == first.number + 2)
        #expect(provider.requests == [false, true, true])
    }

    @Test func `A failed early refresh does not fail a call`() async throws {
        provider.makeTokens { _ in unsignedToken(#"{"exp":1003600}"#) }
        let cache = cache()
        _ = try await cache.token(until: Self.deadline)
        provider.fail(with: URLError(.notConnectedToInternet))
        clock.advance(by: 3_541)
        _ = try await cache.token(until: Self.deadline)
        try await provider.waitForRequests(2)
        for _ in 0..<20 {
            _ = try await cache.token(until: Self.deadline)
            await Task.yield()
        }
        #expect(provider.requests == [false, true])
        clock.advance(by: 60)
        let error = await #expect(throws: StatusError.self) { try await cache.token(until: Self.deadline) }
        #expect(error?.code == .unauthenticated)
        #expect(provider.requests == [false, true, true])
    }

    @Test func `A failed request is repeated by the next call`() async throws {
        let cache = cache()
        provider.fail(with: URLError(.notConnectedToInternet))
        let error = await #expect(throws: StatusError.self) { try await cache.token(until: Self.deadline) }
        #expect(error?.code == .unauthenticated && error?.isTransient == true)
        #expect((error?.cause as? TokenProviderFailure)?.underlying is URLError)
        provider.fail(with: nil)
        #expect(try await cache.token(until: Self.deadline).bearer?.text == "t2")
        #expect(provider.requests == [false, false])
    }

    @Test(arguments: ["", "two words", "line\r\nX-Injected: 1", "schlüssel"])
    func `A token with invalid characters is not sent`(token: String) async throws {
        provider.makeTokens { _ in token }
        let error = await #expect(throws: StatusError.self) { try await cache().token(until: Self.deadline) }
        #expect(error?.code == .unauthenticated && error?.isTransient == false)
        if !token.isEmpty { #expect(error.map { "\($0)".contains(token) } == false) }
    }

    @Test func `A call that waits for the provider can be cancelled, and others still get the token`() async throws {
        let cache = cache()
        provider.hold()
        let cancelled = Task { try await cache.token(until: Self.deadline) }
        let other = Task { try await cache.token(until: Self.deadline) }
        try await provider.waitForRequests(1)
        cancelled.cancel()
        let error = await #expect(throws: StatusError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        provider.release()
        #expect(try await other.value.bearer?.text == "t1")
        #expect(provider.requests == [false])
    }

    @Test func `A provider that never returns lets calls time out, and is asked anew eventually`() async throws {
        let cache = cache(maximumRequestDuration: .milliseconds(150))
        provider.hold()
        for _ in 0..<2 {
            let error = await #expect(throws: StatusError.self) {
                try await cache.token(until: .now + .milliseconds(50))
            }
            #expect(error?.code == .deadlineExceeded)
        }
        // On a busy machine, the second call may be late.
        #expect((1...2).contains(provider.requests.count))
        try await Task.sleep(for: .milliseconds(150))
        let count = provider.requests.count
        let next = Task { try await cache.token(until: Self.deadline) }
        try await provider.waitForRequests(count + 1)
        provider.release()
        #expect(try await next.value.bearer?.text == "t\(count + 1)")
    }

    @Test func `After a change of user, a pending token of the previous user is not used`() async throws {
        let cache = cache()
        provider.hold()
        let call = Task { try await cache.token(until: Self.deadline) }
        try await provider.waitForRequests(1)
        let change = cache.userChange
        cache.credentialDidChange()
        #expect(change.hasOccurred && !cache.userChange.hasOccurred)
        try await provider.waitForRequests(2)
        provider.release()
        #expect(try await call.value.bearer?.text == "t2")
        #expect(try await cache.token(until: Self.deadline).bearer?.text == "t2")
        #expect(provider.requests == [false, false])
    }

    @Test func `Calls for a user are cancelled when another one has signed in`() async throws {
        let cache = cache()
        let first = cache.user
        // The user is not known yet: this is not a change to another one.
        cache.credentialDidChange()
        #expect(try await cache.token(for: first, until: Self.deadline).bearer?.text == "t1")
        cache.credentialDidChange()
        let error = await #expect(throws: StatusError.self) { try await cache.token(for: first, until: Self.deadline) }
        #expect(error?.code == .cancelled)
        #expect(try await cache.token(for: cache.user, until: Self.deadline).bearer?.text == "t2")
    }

    @Test func `Calls for a user are cancelled although the user's token never arrived`() async throws {
        let cache = cache()
        provider.hold()
        let first = cache.user
        let pending = Task { try await cache.token(until: Self.deadline) }
        try await provider.waitForRequests(1)
        cache.credentialDidChange()
        let second = cache.user
        cache.credentialDidChange()
        #expect(first != second && second != cache.user)
        provider.release()
        _ = try await pending.value
        for user in [first, second] {
            let error = await #expect(throws: StatusError.self) { try await cache.token(for: user, until: Self.deadline) }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func `Closing fails pending and later calls`() async throws {
        let cache = cache()
        provider.hold()
        let call = Task { try await cache.token(until: Self.deadline) }
        try await provider.waitForRequests(1)
        cache.close()
        await #expect(throws: StatusError.self) { try await call.value }
        await #expect(throws: StatusError.self) { try await cache.token(until: Self.deadline) }
        provider.release()
    }
}
