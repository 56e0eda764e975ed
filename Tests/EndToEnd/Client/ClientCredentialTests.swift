import Crypto
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing

@Suite("Client with ID tokens", .tags(.slow), .timeLimit(.minutes(10)))
struct ClientCredentialTests {
    /// Members of the team `red` share notes; everyone may read announcements.
    private static let rules = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /notes/{id} {
              allow read, write: if request.auth.token.team == 'red';
            }
            match /announcements/{id} {
              allow read: if true;
            }
          }
        }
        """

    /// Calls `body` with a server with the rules, and expects that it shuts down cleanly.
    private func withRules(
        _ arguments: (URL) throws -> [String],
        _ body: (EndToEndServer) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let rules = folder.appendingPathComponent("firestore.rules")
            try Data(Self.rules.utf8).write(to: rules)
            let server = try await EndToEndServer(
                data: folder.appendingPathComponent("data"),
                arguments: ["--rules", rules.path] + arguments(folder)
            )
            do {
                try await body(server)
            } catch {
                _ = try await server.stop(with: SIGKILL)
                throw error
            }
            #expect(try await server.stop() == .code(0))
        }
    }

    /// The authentication of an app, whose signed-in user has unsigned tokens.
    private final class Authentication: IDTokenProvider {
        private struct State {
            var user: (uid: String, team: String)?
            var requestCount = 0
        }

        private let state = Mutex(State())

        var requestCount: Int { state.withLock(\.requestCount) }

        var userID: String? { state.withLock(\.user?.uid) }

        func signIn(_ uid: String, team: String) {
            state.withLock { $0.user = (uid, team) }
        }

        func signOut() {
            state.withLock { $0.user = nil }
        }

        func idToken(forcingRefresh: Bool) async throws -> String? {
            state.withLock { state in
                state.requestCount += 1
                return state.user.map { user in
                    webToken(
                        header: #"{"alg":"none","type":"JWT"}"#,
                        payload: #"{"sub":"\#(user.uid)","user_id":"\#(user.uid)","team":"\#(user.team)"}"#
                    ) { _ in Data() }
                }
            }
        }
    }

    @Test func `A listener survives a change of user, and ends when rules deny it`() async throws {
        try await withRules { _ in
            ["--emulator"]
        } _: { server in
            let authentication = Authentication()
            authentication.signIn("ann", team: "red")
            let db = server.firestore(with: .idToken(authentication))
            let owner = server.firestore(with: .key("owner"))
            let notes = db.collection("notes")
            var snapshots = notes.snapshots.makeAsyncIterator()
            var announcements = db.document("announcements/a").snapshots.makeAsyncIterator()
            #expect(try await snapshots.next()?.isEmpty == true)
            #expect(try await announcements.next()?.exists == false)
            try await notes.document("1").setData([:])
            #expect(try await snapshots.next()?.documentChanges.map(\.document.documentID) == ["1"])
            #expect(authentication.requestCount == 1)

            authentication.signIn("bob", team: "red")
            db.credentialDidChange()
            try await owner.document("notes/2").setData([:])
            try await notes.document("3").setData([:])
            // The resumed stream may tell both in one snapshot.
            var changed: [String] = []
            while changed.count < 2, let snapshot = try await snapshots.next() {
                changed += snapshot.documentChanges.map(\.document.documentID)
            }
            #expect(changed == ["2", "3"])

            authentication.signIn("eve", team: "blue")
            db.credentialDidChange()
            await expectDenied { _ = try await snapshots.next() }
            await expectDenied { try await notes.document("4").setData([:]) }
            await expectDenied { _ = try await notes.getDocuments() }
            await expectDenied { for try await _ in notes.snapshots {} }

            authentication.signOut()
            db.credentialDidChange()
            try await owner.document("announcements/a").setData([:])
            #expect(try await announcements.next()?.exists == true)
            #expect(try await owner.collection("notes").getDocuments().count == 3)
            try await db.terminate()
            try await owner.terminate()
        }
    }

    @Test func `Queued writes wait until their user is back`() async throws {
        try await withRules { _ in
            ["--emulator"]
        } _: { server in
            let authentication = Authentication()
            authentication.signIn("ann", team: "red")
            let db = server.firestore(with: .idToken(authentication), MemoryCacheSettings())
            let owner = server.firestore(with: .key("owner"))
            let notes = db.collection("notes")
            var snapshots = SnapshotReader(notes.snapshots)
            #expect(try await snapshots.next().isEmpty)
            try await db.disableNetwork()
            notes.document("ann").setData(["by": "ann"], completion: nil)
            #expect(try await snapshots.next().documents.map(\.documentID) == ["ann"])
            let (waits, wait) = AsyncStream.makeStream(of: Int?.self)
            db.waitForPendingWrites { error in
                wait.yield((error as? FirestoreError)?.code)
                wait.finish()
            }

            authentication.signIn("bob", team: "red")
            db.credentialDidChange()
            #expect(try await snapshots.next().isEmpty)
            #expect(await waits.first { _ in true } == FirestoreErrorCode.cancelled.rawValue)
            notes.document("bob").setData(["by": "bob"], completion: nil)
            try await db.enableNetwork()
            try await db.waitForPendingWrites()
            #expect(try await owner.collection("notes").getDocuments().documents.map(\.documentID) == ["bob"])

            authentication.signIn("eve", team: "blue")
            db.credentialDidChange()
            await expectDenied { while true { _ = try await snapshots.next() } }
            await expectDenied { try await notes.document("eve").setData([:]) }

            authentication.signIn("ann", team: "red")
            db.credentialDidChange()
            try await db.waitForPendingWrites()
            #expect(try await owner.collection("notes").getDocuments().documents.map(\.documentID) == ["ann", "bob"])
            try await db.terminate()
            try await owner.terminate()
        }
    }

    private func expectDenied(_ body: () async throws -> Void) async {
        let error = await #expect(throws: FirestoreError.self) { try await body() }
        #expect(error?.code == FirestoreErrorCode.permissionDenied.rawValue)
    }

    /// An issuer of tokens that are signed with a secret.
    private final class Issuer: IDTokenProvider {
        private let key: SymmetricKey
        /// The time from the creation of a token to that at which it expires.
        private let lifetime: Int
        private let log = Mutex<[Bool]>([])

        /// The requests so far: whether each forces a refresh.
        var requests: [Bool] { log.withLock(\.self) }

        init(secret: String, lifetime: Int) {
            key = SymmetricKey(data: Data(secret.utf8))
            self.lifetime = lifetime
        }

        func idToken(forcingRefresh: Bool) async throws -> String? {
            log.withLock { $0.append(forcingRefresh) }
            let expirationTime = Int(Date().timeIntervalSince1970) + lifetime
            return webToken(
                header: #"{"alg":"HS256","typ":"JWT"}"#,
                payload: #"{"iss":"tests","aud":"hearth","sub":"ann","team":"red","exp":\#(expirationTime)}"#
            ) { Data(HMAC<SHA256>.authenticationCode(for: $0, using: self.key)) }
        }
    }

    /// Writes the configuration of the issuer and returns the arguments of `hearth serve`.
    private func trustIssuer(with secret: String, in folder: URL) throws -> [String] {
        try Data(secret.utf8).write(to: folder.appendingPathComponent("tests.secret"))
        let issuers = folder.appendingPathComponent("issuers.json")
        let contents = """
            {"issuers": [{"issuer": "tests", "audience": ["hearth"], "algorithms": ["HS256"], "secretFile": "tests.secret"}]}
            """
        try Data(contents.utf8).write(to: issuers)
        return ["--auth-issuers", issuers.path]
    }

    @Test func `Listeners and calls continue when tokens expire`() async throws {
        let secret = UUID().uuidString + UUID().uuidString
        try await withRules { folder in
            try trustIssuer(with: secret, in: folder)
        } _: { server in
            // On a slow machine, a token may expire between its creation and the check of the server, and the next one, too.
            var validities = [2, 8, 32][...]
            while let seconds = validities.popFirst() {
                do {
                    try await listenAndWrite(with: secret, validity: seconds, to: server)
                    break
                } catch let error as FirestoreError {
                    guard error.code == FirestoreErrorCode.unauthenticated.rawValue, !validities.isEmpty else { throw error }
                }
            }
        }
    }

    /// Listens to a document and writes it, also without a listener's stream, while the tokens of the listener expire.
    ///
    /// - Parameter validity: The seconds for which the server accepts a token, at least.
    private func listenAndWrite(with secret: String, validity: Int, to server: EndToEndServer) async throws {
        // The server accepts tokens until one minute after their expiration time.
        let issuer = Issuer(secret: secret, lifetime: validity + 1 - 60)
        let db = server.firestore(with: .idToken(issuer))
        let writer = server.firestore(with: .idToken(Issuer(secret: secret, lifetime: 3_600)))
        let document = db.document("notes/after-\(validity)")
        var snapshots = document.snapshots.makeAsyncIterator()
        #expect(try await snapshots.next()?.exists == false)
        var number = 0
        while issuer.requests.count < 4 {
            number += 1
            try await writer.document(document.path).setData(["n": number])
            let snapshot = try await snapshots.next()
            #expect(snapshot?.get("n") as? Int == number)
            try await Task.sleep(for: .milliseconds(50))
        }
        // Changes between two streams are not missed, either.
        let sent = number + 20
        while number < sent {
            number += 1
            try await document.updateData(["n": number])
        }
        for expected in sent - 19...sent {
            let snapshot = try await snapshots.next()
            #expect(snapshot?.get("n") as? Int == expected)
        }
        // Streams that expire without a change continue, too.
        let requestCount = issuer.requests.count
        while issuer.requests.count < requestCount + 3 { try await Task.sleep(for: .milliseconds(100)) }
        let stored = try await document.getDocument()
        #expect(stored.get("n") as? Int == sent)
        try await writer.document(document.path).setData(["n": sent + 1])
        let snapshot = try await snapshots.next()
        #expect(snapshot?.get("n") as? Int == sent + 1)
        #expect(issuer.requests.first == false && issuer.requests.dropFirst().allSatisfy { $0 })
        try await db.terminate()
        try await writer.terminate()
    }

    @Test func `A token with a wrong signature is refused`() async throws {
        let secret = UUID().uuidString + UUID().uuidString
        try await withRules { folder in
            try trustIssuer(with: secret, in: folder)
        } _: { server in
            let issuer = Issuer(secret: String(secret.reversed()), lifetime: 3_600)
            let db = server.firestore(with: .idToken(issuer))
            let error = await #expect(throws: FirestoreError.self) { for try await _ in db.collection("notes").snapshots {} }
            #expect(error?.code == FirestoreErrorCode.unauthenticated.rawValue)
            #expect(issuer.requests == [false, true])
            try await db.terminate()
        }
    }
}

extension EndToEndServer {
    /// Returns the default database of the server with a credential.
    fileprivate func firestore(
        with credential: FirestoreCredential,
        _ cacheSettings: (any LocalCacheSettings)? = nil
    ) -> Firestore {
        let settings = FirestoreSettings()
        settings.host = String(address.dropFirst("http://".count))
        settings.isSSLEnabled = false
        settings.credential = credential
        settings.cacheSettings = cacheSettings
        return Firestore(settings: settings)
    }
}

/// Returns a JSON Web Token.
private func webToken(header: String, payload: String, sign: (Data) -> Data) -> String {
    func encode(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
    let text = "\(encode(Data(header.utf8))).\(encode(Data(payload.utf8)))"
    return "\(text).\(encode(sign(Data(text.utf8))))"
}
