import DocumentModel
import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("The authentication of users")
struct TokenAuthorityTests {
    // A valid configuration.
    private let issuer = try! TokenIssuer(
        "https://id.example.org",
        audiences: ["hearth"],
        algorithms: [.es256, .eddsa],
        keySource: .keySetURL(HTTPSURL("https://id.example.org/keys"))
    )
    private let server = KeySetServer([SigningKey.p256.jwk("ec")])
    private let tokens = VerifiedTokenCache(capacity: 8)
    private let authority: TokenAuthority

    init() throws {
        let issuers = try TokenIssuers([issuer, TokenFixtures.secretIssuer])
        authority = TokenAuthority(issuers, keySets: server.makeCache(), tokens: tokens)
    }

    private func authenticate(
        _ token: [UInt8],
        for database: DatabaseID? = .standard,
        at time: Timestamp = TokenFixtures.now
    ) async -> Result<VerifiedToken, TokenError> {
        do throws(TokenError) {
            return .success(try await authority.authenticate(token, for: database, at: time))
        } catch {
            return .failure(error)
        }
    }

    private func error(_ result: Result<VerifiedToken, TokenError>) -> TokenError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test
    func `A verified token is found without waiting until it expires`() async throws {
        let token = TokenFixtures.token()
        #expect(authority.cached(token, for: .standard, at: TokenFixtures.now) == nil)
        #expect(try await authenticate(token).get().uid == "alice")
        #expect(authority.cached(token, for: .standard, at: TokenFixtures.now)?.uid == "alice")
        let last = try Timestamp(microseconds: 1_800_002_999_999_999)
        #expect(authority.cached(token, for: .standard, at: last) != nil)
        #expect(authority.cached(token, for: .standard, at: TokenFixtures.time(1_800_003_000)) == nil)
        let late = TokenFixtures.time(1_800_003_060)
        #expect(error(await authenticate(token, at: late)) == .expired(TokenFixtures.time(1_800_003_000)))
    }

    @Test
    func `Another text is not found`() async throws {
        let token = TokenFixtures.token()
        _ = try await authenticate(token).get()
        #expect(authority.cached(token + [0], for: .standard, at: TokenFixtures.now) == nil)
        #expect(authority.cached(token.dropLast(), for: .standard, at: TokenFixtures.now) == nil)
        #expect(authority.cached([], for: .standard, at: TokenFixtures.now) == nil)
        let large = [UInt8](repeating: 0, count: 1 << 20)
        #expect(authority.cached(large, for: .standard, at: TokenFixtures.now) == nil)
    }

    @Test
    func `A refused token is not cached`() async {
        let token = TokenFixtures.token(key: .ed25519)
        #expect(error(await authenticate(token)) == .badSignature)
        #expect(error(await authenticate(token)) == .badSignature)
        #expect(tokens.count == 0)
    }

    @Test
    func `A token of a new key is accepted after one fetch`() async throws {
        _ = try await authenticate(TokenFixtures.token()).get()
        server.serve([SigningKey.p256.jwk("ec"), SigningKey.ed25519.jwk("ed")])
        let header = TokenFixtures.header(["alg": #""EdDSA""#, "kid": #""ed""#])
        let token = TokenFixtures.token(header: header, key: .ed25519)
        #expect(error(await authenticate(token)) == .unknownKey(issuer: issuer.issuer))
        server.advance(by: .seconds(60))
        #expect(try await authenticate(token).get().key.id == "ed")
        #expect(server.fetchCount == 2)
    }

    @Test
    func `Tokens with invented key IDs cause at most one fetch a minute`() async throws {
        _ = try await authenticate(TokenFixtures.token()).get()
        server.advance(by: .seconds(60))
        for number in 0..<20 {
            let token = TokenFixtures.token(header: TokenFixtures.header(["kid": "\"forged-\(number)\""]))
            #expect(error(await authenticate(token)) == .unknownKey(issuer: issuer.issuer))
        }
        #expect(server.fetchCount == 2)
    }

    @Test
    func `Forged tokens cause no fetch`() async {
        let tokens = [
            TokenFixtures.token(claims: TokenFixtures.claims(["iss": #""https://evil.example""#])),
            TokenFixtures.token(claims: TokenFixtures.claims(["aud": #""other""#])),
            TokenFixtures.token(claims: TokenFixtures.claims(["exp": "1"])),
            TokenFixtures.token(header: TokenFixtures.header(["alg": #""none""#])),
            TokenFixtures.token(header: TokenFixtures.header(["jku": #""https://evil.example""#, "kid": nil])),
        ]
        for token in tokens { #expect(error(await authenticate(token)) != nil) }
        #expect(server.fetchCount == 0)
    }

    @Test
    func `Cached tokens are dropped when the keys of their issuer change`() async throws {
        let token = TokenFixtures.token()
        _ = try await authenticate(token).get()
        server.serve([SigningKey.ed25519.jwk("ed")])
        server.advance(by: .seconds(3_000))
        // Starts the refresh in the background.
        #expect(authority.cached(token, for: .standard, at: TokenFixtures.now) != nil)
        await authority.keySets.refreshIfDue(issuer)
        #expect(authority.cached(token, for: .standard, at: TokenFixtures.now) == nil)
        #expect(error(await authenticate(token)) == .unknownKey(issuer: issuer.issuer))
    }

    @Test
    func `Cached tokens stay when a refresh returns the same keys`() async throws {
        let token = TokenFixtures.token()
        _ = try await authenticate(token).get()
        server.advance(by: .seconds(3_000))
        await authority.keySets.refreshIfDue(issuer)
        #expect(server.fetchCount == 2)
        #expect(authority.cached(token, for: .standard, at: TokenFixtures.now) != nil)
    }

    @Test
    func `Without keys the call can be repeated`() async throws {
        server.serve(nil)
        #expect(error(await authenticate(TokenFixtures.token())) == .keysUnavailable(issuer: issuer.issuer))
        server.serve([SigningKey.p256.jwk("ec")])
        server.advance(by: .seconds(10))
        #expect(try await authenticate(TokenFixtures.token()).get().uid == "alice")
    }

    @Test
    func `A token is accepted only for the databases of its issuer, also when it is cached`() async throws {
        let secret = Array("a secret of thirty-two bytes or more".utf8)
        try authority.keySets.update(TokenFixtures.secretIssuer, to: secret)
        let claims = TokenFixtures.claims(["iss": #""tests""#])
        let token = TokenFixtures.token(header: TokenFixtures.header(["alg": #""HS256""#]), claims: claims, key: .secret)
        let database = try DatabaseID(project: "tests", database: "a")
        #expect(error(await authenticate(token)) == .forbiddenDatabase(.standard))
        #expect(try await authenticate(token, for: database).get().uid == "test:alice")
        #expect(authority.cached(token, for: database, at: TokenFixtures.now) != nil)
        #expect(authority.cached(token, for: .standard, at: TokenFixtures.now) == nil)
        #expect(error(await authenticate(token)) == .forbiddenDatabase(.standard))
        let verified = try await authenticate(token, for: nil).get()
        #expect(verified.issuer.isAccepted(for: database))
        #expect(!verified.issuer.isAccepted(for: .standard))
    }

    @Test
    func `The cache is bounded, and keeps the tokens in use`() async throws {
        let first = TokenFixtures.token(claims: TokenFixtures.claims(["n": "-1"]))
        _ = try await authenticate(first).get()
        for number in 0..<50 {
            _ = try await authenticate(TokenFixtures.token(claims: TokenFixtures.claims(["n": "\(number)"]))).get()
            #expect(authority.cached(first, for: .standard, at: TokenFixtures.now) != nil)
            #expect(tokens.count <= 8)
        }
        #expect(tokens.count >= 4)
    }

    @Test
    func `A token that is verified again is counted once`() throws {
        let token = TokenFixtures.token()
        let verified = try TokenFixtures.verifier.verify(token, at: TokenFixtures.now, keySets: TokenFixtures.keySets)
        for text in [[1], [2], [3], [4], [5], [1], [2], [5]] as [[UInt8]] {
            tokens.insert(verified, text: text)
        }
        #expect(tokens.count == 5)
        #expect(tokens.token([5], where: { _ in false }) == nil)
        #expect(tokens.count == 4)
    }

    @Test
    func `Tokens are verified concurrently`() async {
        let token = TokenFixtures.token()
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { await error(authenticate(token)) } }
            for await error in group { #expect(error == nil) }
        }
        #expect(server.fetchCount == 1)
        #expect(tokens.count == 1)
    }
}
