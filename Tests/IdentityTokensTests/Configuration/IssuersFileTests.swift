import DocumentModel
import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("The configuration file of token issuers")
struct IssuersFileTests {
    private static let members =
        #""issuer":"https://id.example.org","audience":["hearth"],"algorithms":["ES256"],"jwks":"keys.jwks""#

    private func parse(_ text: String) throws(StatusError) -> [TokenIssuer] {
        try IssuersFile(Array(text.utf8), path: "issuers.json").issuers.all
    }

    private func error(_ text: String) -> StatusError? {
        do throws(StatusError) {
            _ = try parse(text)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the error of a file with one issuer, of which a member is replaced or added.
    private func error(replacing old: String, with new: String) -> String? {
        error(#"{"issuers":[{\#(Self.members.replacing(old, with: new))}]}"#)?.message
    }

    @Test
    func `A file names issuers, their keys and the databases that accept them`() throws {
        let issuers = try parse(
            """
            {"issuers": [
              {"issuer": "https://securetoken.google.com/my-app", "audience": ["my-app"], "algorithms": ["RS256"],
               "jwks": "google.jwks"},
              {"issuer": "https://id.example.org/realms/main", "audience": ["hearth", "b"], "algorithms": ["ES256", "EdDSA"],
               "jwksURL": "https://id.example.org/keys", "uid": "username", "uidPrefix": "kc:"},
              {"issuer": "single", "audience": ["hearth"], "algorithms": ["RS256"], "publicKey": "key.pem", "uidPrefix": "s:"},
              {"issuer": "tests", "audience": ["hearth"], "algorithms": ["HS256"], "secretFile": "tests.secret",
               "uidPrefix": "test:", "databases": ["tests/*"]}
            ]}
            """
        )
        #expect(
            try issuers == [
                .firebase(project: "my-app", keySource: .keySetFile("google.jwks")),
                TokenIssuer(
                    "https://id.example.org/realms/main",
                    audiences: ["hearth", "b"],
                    algorithms: [.es256, .eddsa],
                    keySource: .keySetURL(HTTPSURL("https://id.example.org/keys")),
                    uidClaim: "username",
                    uidPrefix: "kc:"
                ),
                TokenIssuer(
                    "single",
                    audiences: ["hearth"],
                    algorithms: [.rs256],
                    keySource: .publicKeyFile("key.pem"),
                    uidPrefix: "s:"
                ),
                TokenFixtures.secretIssuer,
            ]
        )
        #expect(issuers.map(\.kind) == [.firebase, .openID, .openID, .openID])
        #expect(issuers.map(\.keySource.isFetched) == [false, true, false, false])
    }

    @Test
    func `A file may have no issuers`() throws {
        #expect(try parse(#"{"issuers":[]}"#).isEmpty)
    }

    @Test
    func `An error has the location in the file`() {
        let error = error("{\"issuers\": [\n {\(Self.members), \"databases\": [1]}\n]}")
        #expect(error?.code == .invalidArgument)
        #expect(error?.message == "issuers[0].databases[0]: Expected a string, found number.")
        #expect(error?.file?.path == "issuers.json")
        #expect(error?.file?.line == 2)
        #expect(error?.file?.column == 116)
        let syntax = self.error("{\"issuers\": [\n}")
        #expect(syntax?.file == .init(path: "issuers.json", line: 2, column: 1))
        #expect(syntax?.message.hasPrefix("The configuration of token issuers is not valid JSON: line 2, column 1: ") == true)
    }

    @Test(
        arguments: [
            ("[]", "The file: Expected an object, found array."),
            ("{}", "The file: Expected a member issuers with a list of issuers, found none."),
            (#"{"issuers":{}}"#, "issuers: Expected a list of issuers, found object."),
            (#"{"issuers":[],"x":1}"#, #"The file: The member "x" is unknown. The members are issuers."#),
            (#"{"issuers":[1]}"#, "issuers[0]: Expected an object, found number."),
            (
                #"{"issuers":[],"issuers":[]}"#,
                #"The configuration of token issuers is not valid JSON: line 1, column 15: duplicate key "issuers"."#
            ),
        ]
    )
    func `A file of another form is refused`(text: String, message: String) {
        #expect(error(text)?.message == message)
    }

    @Test(
        arguments: [
            (#""issuer":"https://id.example.org","#, "", "issuers[0]: Expected a member issuer with a string, found none."),
            (#""https://id.example.org""#, "1", "issuers[0].issuer: Expected a string, found number."),
            (#""https://id.example.org""#, #""""#, "issuers[0].issuer: Expected 1 to 1024 bytes."),
            (#"["hearth"]"#, #""hearth""#, #"issuers[0].audience: Expected a list of strings, found the string "hearth"."#),
            (
                #"["hearth"]"#, "[]",
                "issuers[0].audience: Expected at least one audience, or tokens for other services would be accepted."
            ),
            (#"["hearth"]"#, #"["a",2]"#, "issuers[0].audience[1]: Expected a string, found number."),
            (#"["hearth"]"#, #"[""]"#, "issuers[0].audience: Expected 1 to 1024 bytes."),
            (
                #"["ES256"]"#, #"["ES256","none"]"#,
                #"issuers[0].algorithms[1]: Expected one of RS256, ES256, EdDSA, HS256, found the string "none"."#
            ),
            (#"["ES256"]"#, "[]", "issuers[0].algorithms: Expected at least one of RS256, ES256, EdDSA, HS256."),
            (
                #"["ES256"]"#, #"["ES256","HS256"]"#,
                "issuers[0].algorithms: HS256 cannot be combined with other algorithms. Configure a second issuer for tokens with "
                    + "a shared secret."
            ),
            (
                #"["ES256"]"#, #"["HS256"]"#,
                "issuers[0].algorithms: HS256 requires a secretFile; public keys cannot be its secret."
            ),
            (
                #""jwks":"#, #""secretFile":"#,
                "issuers[0].algorithms: Expected HS256, the only algorithm with a shared secret."
            ),
            (
                #","jwks":"keys.jwks""#, "",
                "issuers[0]: Expected exactly one of jwks, jwksURL, publicKey, secretFile, found none."
            ),
            (
                #""jwks":"#, #""publicKey":"a","jwks":"#,
                "issuers[0]: Expected exactly one of jwks, jwksURL, publicKey, secretFile, found 2."
            ),
            (#""keys.jwks""#, #""""#, #"issuers[0].jwks: Expected a string that is not empty, found the string ""."#),
            (
                #""jwks":"keys.jwks""#, #""jwksURL":"http://id.example.org/keys""#,
                "issuers[0].jwksURL: Expected an address that begins with https://, found \"http://id.example.org/keys\"."
            ),
            (
                #""jwks":"#, #""audiences":[],"jwks":"#,
                #"issuers[0]: The member "audiences" is unknown. The members are issuer, audience, algorithms, jwks, jwksURL, "#
                    + "publicKey, secretFile, uid, uidPrefix, databases."
            ),
            (#""jwks":"#, #""uid":"","jwks":"#, "issuers[0].uid: Expected 1 to 1024 bytes."),
            (
                #""jwks":"#, #""uidPrefix":"","jwks":"#,
                #"issuers[0].uidPrefix: Expected a string that is not empty, found the string ""."#
            ),
            (
                #""jwks":"#, #""databases":[],"jwks":"#,
                "issuers[0].databases: Expected at least one pattern. Omit the member to accept tokens for all databases."
            ),
            (
                #""jwks":"#, #""databases":["tests-*/a"],"jwks":"#,
                "issuers[0].databases[0]: Expected a pattern such as my-app/(default), tests/* or */*, in which a * stands for a "
                    + #"whole ID, found "tests-*/a"."#
            ),
            (
                "https://id.example.org", "https://securetoken.google.com/my-app",
                #"issuers[0].audience: Expected only "my-app", the project ID in the issuer."#
            ),
        ]
    )
    func `A member of another form is refused, with its path`(old: String, new: String, message: String) {
        #expect(error(replacing: old, with: new) == message)
    }

    @Test
    func `Issuers with the same user IDs are refused`() {
        let second = Self.members.replacing("id.example.org", with: "b.example.org")
        #expect(
            error("{\"issuers\":[{\(Self.members)},{\(second)}]}")?.message
                == #"issuers[1].uidPrefix: Expected a prefix for the user IDs of "https://b.example.org", such as "id:": another "#
                + "issuer has none, and both may give the same ID to different users."
        )
        #expect(error("{\"issuers\":[{\(Self.members)},{\(second),\"uidPrefix\":\"b:\"}]}") == nil)
        #expect(
            error("{\"issuers\":[{\(Self.members)},{\(Self.members)}]}")?.message
                == #"issuers[1].issuer: The issuer "https://id.example.org" occurs twice."#
        )
        #expect(
            error(#"{"issuers":[{\#(Self.members),"uidPrefix":"a"},{\#(second),"uidPrefix":"ab"}]}"#)?.message
                == #"issuers[1].uidPrefix: The prefixes "a" and "ab" of user IDs cannot be told apart, since one begins with "#
                + "the other."
        )
    }
}
