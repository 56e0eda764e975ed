import Crypto
import DocumentModel
import StrictJSON
import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("Valid ID tokens")
struct TokenVerifierTests {
    private func verify(_ token: [UInt8], at time: Timestamp = TokenFixtures.now) throws -> VerifiedToken {
        try TokenFixtures.verifier.verify(token, at: time, keySets: TokenFixtures.keySets)
    }

    @Test
    func `A token tells its issuer, user, claims, expiration and key`() throws {
        let token = try verify(TokenFixtures.token(claims: TokenFixtures.claims(["admin": "true", "teams": #"{"a":[1,2.5]}"#])))
        #expect(token.issuer == TokenFixtures.issuer)
        #expect(token.subject == "alice")
        #expect(token.uid == "alice")
        #expect(token.claims["admin"]?.boolean == true)
        #expect(token.claims["teams"]?["a"]?.count == 2)
        #expect(token.expirationTime == TokenFixtures.time(1_800_003_000))
        #expect(token.key.id == "ec")
        #expect(token.key.algorithm == .es256)
        #expect(token.key.digest.count == 32)
    }

    @Test(arguments: [("RS256", "rsa", SigningKey.rsa), ("ES256", "ec", .p256), ("EdDSA", "ed", .ed25519)])
    func `Each public algorithm verifies`(algorithm: String, id: String, key: SigningKey) throws {
        let header = TokenFixtures.header(["alg": "\"\(algorithm)\"", "kid": "\"\(id)\""])
        #expect(try verify(TokenFixtures.token(header: header, key: key)).key.algorithm.rawValue == algorithm)
    }

    @Test
    func `A token of Firebase verifies and its user has the prefix`() throws {
        let header = TokenFixtures.header(["alg": #""RS256""#, "kid": #""firebase""#])
        let token = try verify(TokenFixtures.token(header: header, claims: TokenFixtures.firebaseClaims(), key: .rsa))
        #expect(token.issuer.kind == .firebase)
        #expect(token.uid == "fb:alice")
        #expect(token.subject == "alice")
    }

    @Test(arguments: [TokenFixtures.header(["alg": #""HS256""#, "kid": nil]), TokenFixtures.header(["alg": #""HS256""#])])
    func `A token with a shared secret verifies with any key ID or none`(header: String) throws {
        let token = TokenFixtures.token(header: header, claims: TokenFixtures.claims(["iss": #""tests""#]), key: .secret)
        #expect(try verify(token).uid == "test:alice")
    }

    @Test
    func `The only key of an issuer verifies, and its user ID is the configured claim`() throws {
        let claims = TokenFixtures.claims(["iss": #""single""#, "username": #""Älice""#])
        let token = try verify(TokenFixtures.token(header: TokenFixtures.header(["kid": nil]), claims: claims))
        #expect(token.uid == "single:Älice")
        #expect(token.subject == "alice")
        #expect(token.key.id == nil)
    }

    @Test(arguments: [nil, #""JWT""#, #""jwt""#, #""application/jwt""#, #""at+jwt""#, #""application/at+JWT""#])
    func `The type is optional and not case-sensitive`(type: String?) {
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: TokenFixtures.header(["typ": type]))) == nil)
    }

    @Test(arguments: [
        #"["hearth"]"#, #"["hearth-admin"]"#,
    ])
    func `A list of one audience is accepted`(audience: String) {
        #expect(TokenFixtures.error(of: TokenFixtures.token(claims: TokenFixtures.claims(["aud": audience]))) == nil)
    }

    @Test
    func `A token for several audiences is accepted if it was issued to a configured one`() {
        let claims = TokenFixtures.claims(["aud": #"["other","hearth"]"#, "azp": #""hearth-admin""#])
        #expect(TokenFixtures.error(of: TokenFixtures.token(claims: claims)) == nil)
    }

    @Test
    func `Another party may have been issued a token for one audience`() {
        let claims = TokenFixtures.claims(["azp": #""the-android-app""#])
        #expect(TokenFixtures.error(of: TokenFixtures.token(claims: claims)) == nil)
    }

    @Test
    func `A token is accepted until a minute after it expired`() {
        let token = TokenFixtures.token(claims: TokenFixtures.claims(["exp": "1800000000"]))
        #expect(TokenFixtures.error(of: token, at: TokenFixtures.time(1_800_000_059)) == nil)
        let expiration = TokenFixtures.time(1_800_000_000)
        #expect(TokenFixtures.error(of: token, at: TokenFixtures.time(1_800_000_060)) == .expired(expiration))
    }

    @Test(arguments: ["nbf", "iat", "auth_time"])
    func `A token is accepted from a minute before its start`(claim: String) {
        let token = TokenFixtures.token(claims: TokenFixtures.claims([claim: "1800000060"]))
        #expect(TokenFixtures.error(of: token) == nil)
        let early = TokenFixtures.time(1_799_999_999)
        let start = TokenFixtures.time(1_800_000_060)
        #expect(TokenFixtures.error(of: token, at: early) == .notYetValid(claim: UTF8Key(claim), start))
    }

    @Test
    func `Times may have fractions`() throws {
        let token = try verify(TokenFixtures.token(claims: TokenFixtures.claims(["exp": "1800000000.5", "iat": "1.7e9"])))
        #expect(token.expirationTime.microseconds == 1_800_000_000_500_000)
    }

    @Test
    func `Keys in the header are ignored`() {
        let forger = SigningKey.p256(.init())
        let header = TokenFixtures.header([
            "jwk": forger.jwk("ec"), "jku": #""https://evil.example/keys""#, "x5u": #""https://evil.example/cert""#,
            "x5c": #"["AA=="]"#,
        ])
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: header)) == nil)
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: header, key: forger)) == .badSignature)
    }
}
