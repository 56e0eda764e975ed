import DocumentModel
import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("Token issuers")
struct TokenIssuerTests {
    @Test
    func `The issuer of a Firebase project has its address, audience, algorithm and keys`() throws {
        let issuer = try TokenIssuer.firebase(project: "my-app-1")
        #expect(issuer.kind == .firebase)
        #expect(issuer.issuer == "https://securetoken.google.com/my-app-1")
        #expect(issuer.audiences == ["my-app-1"])
        #expect(issuer.algorithms == [.rs256])
        #expect(issuer.uidClaim == "sub")
        let keys = "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
        #expect(try issuer.keySource == .keySetURL(HTTPSURL(keys)))
    }

    @Test(arguments: ["", "a/b", "my app", "ä", "a.b", "../a"] as [UTF8Key])
    func `An invalid project ID is refused`(project: UTF8Key) {
        #expect(throws: StatusError.self) { try TokenIssuer.firebase(project: project) }
    }

    @Test
    func `Tokens of Firebase have one algorithm and user ID`() {
        func issuer(_ algorithms: Set<SignatureAlgorithm>, uid: UTF8Key) throws(StatusError) -> TokenIssuer {
            try TokenIssuer(
                "https://securetoken.google.com/a",
                audiences: ["a"],
                algorithms: algorithms,
                keySource: .keySetFile("a"),
                uidClaim: uid
            )
        }
        #expect(throws: Never.self) { try issuer([.rs256], uid: "sub") }
        #expect(throws: StatusError.self) { try issuer([.rs256, .es256], uid: "sub") }
        #expect(throws: StatusError.self) { try issuer([.rs256], uid: "email") }
    }

    @Test(arguments: [
        "https://id.example.org", "https://id.example.org/keys?a=b&c=%20", "https://127.0.0.1:8443/keys", "https://[::1]:8443/a",
        "https://[fe80::1]", "https://a?b",
    ])
    func `An address of keys is HTTPS`(text: String) throws {
        #expect(try HTTPSURL(text).description == text)
    }

    @Test(arguments: [
        "", "https://", "http://a", "HTTPS://a", "https:///a", "https://a b", "https://a/\n", "https://user@a/", "https://u:p@a/",
        "https://a/#b", "https://a:/", "https://a:x/", "https://a:123456/", "https://a:1:2/", "https://[::1/", "https://[]/",
        "https://[::1]a/", "https://ä/", "https://a\\b", "file:///etc/passwd", "https://\(String(repeating: "a", count: 2_050))",
    ])
    func `Another address of keys is refused`(text: String) {
        #expect(throws: StatusError.self) { try HTTPSURL(text) }
    }

    @Test(
        arguments: [
            ("*/*", true, true, true), ("tests/*", true, false, false), ("*/b", true, false, true),
            ("tests/b", true, false, false),
            ("tests/c", false, false, false), ("hearth/(default)", false, true, false), ("Tests/*", false, false, false),
        ]
    )
    func `A pattern names databases`(pattern: String, first: Bool, second: Bool, third: Bool) throws {
        let pattern = try DatabasePattern(pattern)
        #expect(try pattern.matches(DatabaseID(project: "tests", database: "b")) == first)
        #expect(pattern.matches(.standard) == second)
        #expect(try pattern.matches(DatabaseID(project: "other", database: "b")) == third)
        #expect(try DatabasePattern(pattern.description) == pattern)
    }

    @Test(arguments: [
        "", "*", "tests", "a/b/c", "/", "a/", "/b", "**/b", "a*/b", "../b", "\(String(repeating: "a", count: 81))/b",
    ])
    func `An invalid pattern is refused`(pattern: String) {
        #expect(throws: StatusError.self) { try DatabasePattern(pattern) }
    }
}
