import StrictJSON
import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("Unsigned tokens of emulators")
struct UnsignedTokenTests {
    private static let header = #"{"alg":"none","type":"JWT"}"#

    private func token(header: String = header, _ claims: String, signature: String = "") -> [UInt8] {
        Array("\(url(header.utf8)).\(url(claims.utf8)).\(signature)".utf8)
    }

    @Test
    func `A token of the test tools is accepted, although it has expired`() throws {
        let claims = #"""
            {"iss":"https://securetoken.google.com/demo","aud":"demo","iat":0,"exp":3600,"auth_time":0,"sub":"alice",
            "user_id":"alice","firebase":{"sign_in_provider":"custom","identities":{}},"admin":true}
            """#
        let user = try UnsignedToken.parse(token(claims))
        #expect(user.uid == "alice")
        #expect(user.claims["admin"]?.boolean == true)
    }

    @Test
    func `The user ID is the subject, or else user_id`() throws {
        #expect(try UnsignedToken.parse(token(#"{"user_id":"bob"}"#)).uid == "bob")
        #expect(try UnsignedToken.parse(token(#"{"user_id":"bob","sub":"alice"}"#)).uid == "alice")
    }

    @Test(arguments: ["{}", #"{"sub":""}"#, #"{"sub":1}"#, #"{"user_id":null}"#, #"{"uid":"alice"}"#])
    func `A token without a user is refused`(claims: String) {
        #expect(throws: TokenError.self) { try UnsignedToken.parse(token(claims)) }
    }

    @Test
    func `A signed token is refused`() {
        #expect(throws: TokenError.forbiddenAlgorithm) { try UnsignedToken.parse(TokenFixtures.token()) }
        #expect(throws: TokenError.forbiddenAlgorithm) {
            try UnsignedToken.parse(token(header: #"{"alg":"None"}"#, #"{"sub":"alice"}"#))
        }
        #expect(throws: TokenError.self) { try UnsignedToken.parse(token(#"{"sub":"alice"}"#, signature: "AA")) }
    }

    @Test
    func `A malformed token is refused`() {
        for text in ["", "owner", "a.b.", "e30.e30.", "eyJhbGciOiJub25lIn0.e30"] {
            #expect(throws: TokenError.self) { try UnsignedToken.parse(Array(text.utf8)) }
        }
    }
}

extension UnsignedTokenTests {
    @Test
    func `Older test tools encode tokens with padding, in the standard alphabet`() throws {
        let claims = Base64.standard.encode(Array(#"{"sub":"alice","note":"~~~???"}"#.utf8))
        let header = Base64.standard.encode(Array(#"{"alg":"none"}"#.utf8))
        #expect(claims.contains("/") && header.contains("="))
        #expect(try UnsignedToken.parse(Array("\(header).\(claims).".utf8)).uid == "alice")
    }

    @Test
    func `A signature is ignored on request`() throws {
        #expect(try UnsignedToken.parse(TokenFixtures.token(), ignoringSignature: true).uid == "alice")
    }
}
