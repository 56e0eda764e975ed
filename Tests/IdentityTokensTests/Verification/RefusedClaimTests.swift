import Crypto
import DocumentModel
import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("Refused claims of ID tokens")
struct RefusedClaimTests {
    private func error(_ changes: KeyValuePairs<String, String?>) -> TokenError? {
        TokenFixtures.error(of: TokenFixtures.token(claims: TokenFixtures.claims(changes)))
    }

    @Test(arguments: [
        nil, "1", "null", #"["https://id.example.org"]"#, #""https://id.example.org/""#, #""https://ID.example.org""#,
        #""https://id.example.org ""#, #""http://id.example.org""#, #""https://securetoken.google.com/other""#, #""""#,
    ])
    func `Another issuer`(issuer: String?) {
        #expect(error(["iss": issuer]) == .unknownIssuer)
    }

    @Test(arguments: [
        #""other""#, #""""#, #""Hearth""#, #""hearth ""#, "[]", #"["other"]"#, #"["hearth","other"]"#, #"["hearth","hearth"]"#,
    ])
    func `Another audience, an empty list, and several without an authorized party`(audience: String) {
        #expect(error(["aud": audience]) == .wrongAudience)
    }

    @Test(arguments: [nil, "1", "null", "{}", #"["hearth",1]"#, #"[["hearth"]]"#])
    func `A missing audience, and one that is no string`(audience: String?) {
        #expect(error(["aud": audience])?.invalidClaim == "aud")
    }

    @Test
    func `Several audiences and another authorized party`() {
        #expect(error(["aud": #"["hearth","other"]"#, "azp": #""other""#]) == .wrongAudience)
        #expect(error(["aud": #"["hearth","other"]"#, "azp": #"["hearth"]"#])?.invalidClaim == "azp")
    }

    @Test
    func `An expired token, even with an unknown key or a bad signature`() {
        let expired = TokenError.expired(TokenFixtures.time(1_799_999_940))
        #expect(error(["exp": "1799999940"]) == expired)
        #expect(expired.isExpired)
        #expect(!TokenError.badSignature.isExpired)
        let token = TokenFixtures.token(
            header: TokenFixtures.header(["kid": #""rotated""#]),
            claims: TokenFixtures.claims(["exp": "1799999940"]),
            key: .p256(.init())
        )
        #expect(TokenFixtures.error(of: token) == expired)
    }

    @Test(arguments: [
        nil, "null", #""1800003000""#, "true", "[]", "-1", "-0.5", "1e300", "253402300800", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "1e18", "1e999",
    ])
    func `A missing expiration, and one that is no time`(expiration: String?) {
        #expect(error(["exp": expiration])?.invalidClaim == "exp")
    }

    @Test(arguments: ["nbf", "iat", "auth_time"])
    func `A start that lies ahead or is no time`(claim: String) {
        #expect(error([claim: "1800000061"]) == .notYetValid(claim: UTF8Key(claim), TokenFixtures.time(1_800_000_061)))
        #expect(error([claim: #""0""#])?.invalidClaim == UTF8Key(claim))
        #expect(error([claim: "null"])?.invalidClaim == UTF8Key(claim))
        #expect(error([claim: "1e30"])?.invalidClaim == UTF8Key(claim))
    }

    @Test(arguments: [nil, #""""#, "1", "null", #"["alice"]"#, "\"\(String(repeating: "a", count: 256))\""])
    func `A subject that is missing, empty, no string or too long`(subject: String?) {
        #expect(error(["sub": subject])?.invalidClaim == "sub")
    }

    @Test
    func `A long subject within the limit is accepted`() {
        #expect(error(["sub": "\"\(String(repeating: "a", count: 255))\""]) == nil)
    }

    @Test(arguments: [nil, #""""#, "1", "\"\(String(repeating: "a", count: 256))\""])
    func `A configured claim with the user ID that is missing, empty, no string or too long`(uid: String?) {
        let claims = TokenFixtures.claims(["iss": #""single""#, "username": uid])
        #expect(TokenFixtures.error(of: TokenFixtures.token(claims: claims))?.invalidClaim == "username")
        let withoutSubject = TokenFixtures.claims(["iss": #""single""#, "username": #""bob""#, "sub": nil])
        #expect(TokenFixtures.error(of: TokenFixtures.token(claims: withoutSubject))?.invalidClaim == "sub")
    }

    @Test
    func `A user ID that looks like one of another issuer`() {
        #expect(error(["sub": #""test:alice""#])?.invalidClaim == "sub")
        #expect(error(["sub": #""fb:""#])?.invalidClaim == "sub")
        #expect(error(["sub": #""Test:alice""#]) == nil)
        let claims = TokenFixtures.claims(["iss": #""tests""#, "sub": #""fb:alice""#])
        let header = TokenFixtures.header(["alg": #""HS256""#])
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: header, claims: claims, key: .secret)) == nil)
    }

    @Test(
        arguments: [
            (["sub": "\"\(String(repeating: "a", count: 129))\""], "sub"), (["sub": #""""#], "sub"), (["iat": nil], "iat"),
            (["auth_time": nil], "auth_time"), (["exp": nil], "exp"),
        ] as [(KeyValuePairs<String, String?>, UTF8Key)]
    )
    func `Claims that Firebase always sends, if they are missing or invalid`(
        changes: KeyValuePairs<String, String?>,
        claim: UTF8Key
    ) {
        #expect(firebaseError(changes)?.invalidClaim == claim)
    }

    @Test
    func `A token of another Firebase project, or for several audiences`() {
        #expect(firebaseError([:]) == nil)
        #expect(firebaseError(["sub": "\"\(String(repeating: "ä", count: 128))\""]) == nil)
        #expect(firebaseError(["aud": #""other""#]) == .wrongAudience)
        #expect(firebaseError(["aud": #"["my-app","other"]"#, "azp": #""my-app""#]) == .wrongAudience)
        #expect(firebaseError(["iss": #""https://securetoken.google.com/other""#]) == .unknownIssuer)
        let time = TokenFixtures.time(1_800_000_061)
        #expect(firebaseError(["auth_time": "1800000061"]) == .notYetValid(claim: "auth_time", time))
    }

    private func firebaseError(_ changes: KeyValuePairs<String, String?>) -> TokenError? {
        let header = TokenFixtures.header(["alg": #""RS256""#, "kid": #""firebase""#])
        let claims = TokenFixtures.firebaseClaims(changes)
        return TokenFixtures.error(of: TokenFixtures.token(header: header, claims: claims, key: .rsa))
    }
}
