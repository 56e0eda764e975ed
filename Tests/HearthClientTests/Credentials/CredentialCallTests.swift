import Foundation
import Synchronization
import Testing
import TransportTestSupport

@testable import HearthClient

@Suite("Calls with ID tokens", .timeLimit(.minutes(10)))
struct CredentialCallTests {
    private let provider = TestTokenProvider()

    /// Returns a server that accepts certain tokens.
    private func server(accepting isAccepted: @escaping @Sendable (String?) -> Bool) throws -> StubServer {
        try StubServer { request in
            guard isAccepted(request.token) else { return .unauthenticated }
            return request.body.contains("documents.commit") ? .committed : .documents(for: request)
        }
    }

    private func code(_ error: (any Error)?) -> FirestoreErrorCode.Code? {
        error.flatMap { FirestoreErrorCode($0)?.code }
    }

    @Test func `A key is sent as before`() async throws {
        let server = try server { $0 == "fsk_1" }
        let db = server.firestore(.key("fsk_1"))
        #expect(db.settings.key == "fsk_1")
        #expect(try await db.document("a/b").getDocument().get("n") as? Int == 1)
        db.credentialDidChange()
        #expect(try await db.document("a/b").getDocument().exists)
        try await db.terminate()
        let wrong = server.firestore(.key("fsk_2"))
        let error = await #expect(throws: FirestoreError.self) { try await wrong.document("a/b").getDocument() }
        #expect(code(error) == .unauthenticated)
        #expect(server.tokens == ["fsk_1", "fsk_1", "fsk_2"])
        try await wrong.terminate()
    }

    @Test func `Calls share a token until the server refuses it`() async throws {
        let server = try server { [accepted = Mutex(["t1", "t1", "t2", "t2"])] token in
            accepted.withLock { accepted in
                guard accepted.first == token else { return false }
                accepted.removeFirst()
                return true
            }
        }
        let db = server.firestore(.idToken(provider))
        for _ in 0..<4 { _ = try await db.document("a/b").getDocument() }
        #expect(server.tokens == ["t1", "t1", "t1", "t2", "t2"])
        #expect(provider.requests == [false, true])
        try await db.terminate()
    }

    @Test func `Many refused calls refresh the token once, and all succeed`() async throws {
        let server = try server { $0 == "t2" }
        let db = server.firestore(.idToken(provider))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { try await db.document("a/\(number)").setData(["n": number]) }
                group.addTask {
                    let document = try await db.document("a/\(number)").getDocument()
                    #expect(document.exists)
                }
            }
            try await group.waitForAll()
        }
        #expect(provider.requests == [false, true])
        try await db.terminate()
    }

    @Test func `A call whose new token is refused, too, fails`() async throws {
        let server = try server { _ in false }
        let db = server.firestore(.idToken(provider))
        let error = await #expect(throws: FirestoreError.self) { try await db.document("a/b").getDocument() }
        #expect(code(error) == .unauthenticated)
        #expect(error?.localizedDescription == "The ID token has expired.")
        #expect(server.tokens == ["t1", "t2"])
        // The next call doesn't send the refused token again.
        _ = try? await db.document("a/b").getDocument()
        #expect(server.tokens == ["t1", "t2", "t3", "t4"])
        #expect(provider.requests == [false, true, true, true])
        try await db.terminate()
    }

    @Test func `A refusal within a response is one, too`() async throws {
        let server = try StubServer { request in
            guard request.token == "t1" else { return .documents(for: request) }
            let error = #"{"jsonrpc":"2.0","id":0,"error":{"code":16,"message":"Expired.","data":{"status":"UNAUTHENTICATED"}}}"#
            return .json(status: 200, request.body.hasPrefix("[") ? "[\(error)]" : error)
        }
        let db = server.firestore(.idToken(provider))
        #expect(try await db.document("a/b").getDocument().exists)
        #expect(server.tokens == ["t1", "t2"])
        try await db.terminate()
    }

    @Test func `A denied call is not retried`() async throws {
        let server = try StubServer { _ in .permissionDenied }
        let db = server.firestore(.idToken(provider))
        let error = await #expect(throws: FirestoreError.self) { try await db.document("a/b").getDocument() }
        #expect(code(error) == .permissionDenied)
        #expect(server.tokens == ["t1"])
        try await db.terminate()
    }

    @Test func `Without a signed-in user, no token is sent`() async throws {
        let server = try server { $0 == nil }
        provider.signOut()
        let db = server.firestore(.idToken(provider))
        for _ in 0..<2 { _ = try await db.document("a/b").getDocument() }
        #expect(server.tokens == [nil, nil])
        #expect(provider.requests == [false])
        try await db.terminate()
    }

    private struct SignInRequired: Error, Equatable {}

    @Test func `An error of the provider is the cause of the call's error`() async throws {
        let server = try server { _ in true }
        provider.fail(with: SignInRequired())
        let db = server.firestore(.idToken(provider))
        let error = await #expect(throws: FirestoreError.self) { try await db.document("a/b").getDocument() }
        #expect(code(error) == .unauthenticated)
        #expect(error?.userInfo[NSUnderlyingErrorKey] is SignInRequired)
        #expect(server.requests.isEmpty)
        try await db.terminate()
    }

    @Test func `A call times out and can be cancelled while the provider does not return`() async throws {
        let server = try server { _ in true }
        provider.hold()
        let db = server.firestore(timeout: .milliseconds(50), .idToken(provider))
        let error = await #expect(throws: FirestoreError.self) { try await db.document("a/b").getDocument() }
        #expect(code(error) == .deadlineExceeded)
        try await db.terminate()

        let patient = server.firestore(.idToken(provider))
        let call = Task { try await patient.document("a/b").setData([:]) }
        try await provider.waitForRequests(2)
        call.cancel()
        let cancelled = await #expect(throws: FirestoreError.self) { try await call.value }
        #expect(code(cancelled) == .cancelled)
        #expect(server.requests.isEmpty)
        let pending = Task { try await patient.document("a/b").getDocument() }
        try await patient.terminate()
        await #expect(throws: FirestoreError.self) { try await pending.value }
        provider.release()
    }

    @Test func `Queued writes are retried with a new token, and denied ones fail`() async throws {
        let server = try StubServer { request in
            request.token == "t1" ? .unauthenticated : request.body.contains("a/denied") ? .permissionDenied : .committed
        }
        let db = server.firestore(.idToken(provider))
        let (outcomes, outcome) = AsyncStream.makeStream(of: FirestoreErrorCode.Code?.self)
        for id in ["first", "denied", "last"] {
            db.document("a/\(id)").setData([:]) { outcome.yield(code($0)) }
        }
        var iterator = outcomes.makeAsyncIterator()
        for expected in [nil, .permissionDenied, nil] as [FirestoreErrorCode.Code?] { #expect(await iterator.next() == expected) }
        #expect(server.tokens == ["t1", "t2", "t2", "t2"])
        try await db.terminate()
    }

    @Test func `After a change of user, calls have the new token, and unsent writes of the previous user fail`() async throws {
        let isReleased = DispatchSemaphore(value: 0)
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let server = try StubServer { request in
            if request.body.contains("a/held") {
                arrival.yield()
                isReleased.wait()
            }
            return request.body.contains("documents.commit") ? .committed : .documents(for: request)
        }
        let db = server.firestore(.idToken(provider))
        let (outcomes, outcome) = AsyncStream.makeStream(of: FirestoreErrorCode.Code?.self)
        for id in ["held", "queued"] { db.document("a/\(id)").setData([:]) { outcome.yield(code($0)) } }
        for await _ in arrivals { break }
        db.credentialDidChange()
        db.document("a/next").setData([:]) { outcome.yield(code($0)) }
        isReleased.signal()
        var iterator = outcomes.makeAsyncIterator()
        for expected in [nil, .cancelled, nil] as [FirestoreErrorCode.Code?] { #expect(await iterator.next() == expected) }
        #expect(server.requests.map { "\($0.token ?? "") \($0.body.contains("a/next"))" } == ["t1 false", "t2 true"])

        // A transaction that has been started for one user doesn't write for another.
        let document = db.document("a/b")
        let error = await #expect(throws: FirestoreError.self) {
            try await db.runTransaction { transaction in
                transaction.setData([:], forDocument: document)
                db.credentialDidChange()
            }
        }
        #expect(code(error) == .cancelled)
        _ = try await document.getDocument()
        #expect(server.tokens == ["t1", "t2", "t3"])
        try await db.terminate()
    }

    @Test func `No description contains a key or token`() async throws {
        for credential in [FirestoreCredential.key("secret"), .idToken { _ in "secret" }] {
            let server = try server { _ in false }
            let db = server.firestore(credential)
            let error = await #expect(throws: FirestoreError.self) { try await db.document("a/b").getDocument() }
            var texts = [String(describing: credential), String(reflecting: credential), "\(error as Any)", "\(db.settings)"]
            texts += [error?.debugDescription ?? "", error?.localizedDescription ?? ""]
            for value in [credential, db.settings, error as Any] as [Any] {
                var text = ""
                dump(value, to: &text)
                texts.append(text)
            }
            for text in texts { #expect(!text.contains("secret")) }
            try await db.terminate()
        }
    }

    @Test func `The key of the settings is their credential`() {
        let settings = FirestoreSettings(environment: ["HEARTH_KEY": "k"])
        #expect(settings.key == "k" && settings.credential?.description == "API key")
        settings.credential = .idToken { _ in nil }
        #expect(settings.key == nil && settings.credential?.description == "ID token")
        settings.key = "l"
        #expect(settings.key == "l")
        settings.key = nil
        #expect(settings.credential == nil)
    }
}
