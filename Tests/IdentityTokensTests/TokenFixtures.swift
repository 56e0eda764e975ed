import DocumentModel
import UTF8Text

@testable import IdentityTokens

/// The issuers, keys and tokens of tests. All configurations and key sets are valid.
enum TokenFixtures {
    /// The current time.
    static let now = time(1_800_000_000)
    static let issuerText = "https://id.example.org"

    /// An issuer with a key of each public algorithm.
    static let issuer = try! TokenIssuer(
        UTF8Key(issuerText),
        audiences: ["hearth", "hearth-admin"],
        algorithms: [.rs256, .es256, .eddsa],
        keySource: .keySetFile("keys.jwks")
    )
    /// The keys of ``issuer``.
    static let keySet = set([SigningKey.rsa.jwk("rsa"), SigningKey.p256.jwk("ec"), SigningKey.ed25519.jwk("ed")])
    static let firebase = try! TokenIssuer.firebase(project: "my-app", uidPrefix: "fb:")
    static let secretIssuer = try! TokenIssuer(
        "tests",
        audiences: ["hearth"],
        algorithms: [.hs256],
        keySource: .secretFile("tests.secret"),
        uidPrefix: "test:",
        databases: [DatabasePattern("tests/*")]
    )
    /// An issuer with a public key in PEM format.
    static let singleKeyIssuer = try! TokenIssuer(
        "single",
        audiences: ["hearth"],
        algorithms: [.es256],
        keySource: .publicKeyFile("key.pem"),
        uidClaim: "username",
        uidPrefix: "single:"
    )
    static let verifier = TokenVerifier(try! TokenIssuers([issuer, firebase, secretIssuer, singleKeyIssuer]))
    static let keySets: [UTF8Key: VerificationKeySet] = [
        issuer.issuer: decode(keySet, issuer),
        firebase.issuer: decode(set([SigningKey.rsa.jwk("firebase")]), firebase),
        secretIssuer.issuer: decode("a secret of thirty-two bytes or more\n", secretIssuer),
        singleKeyIssuer.issuer: decode(SigningKey.p256.pem, singleKeyIssuer),
    ]

    static func time(_ seconds: Int64) -> Timestamp {
        // In range in all tests.
        try! Timestamp(microseconds: seconds * 1_000_000)
    }

    static func set(_ keys: [String]) -> String {
        #"{"keys":[\#(keys.joined(separator: ","))]}"#
    }

    private static func decode(_ text: String, _ issuer: TokenIssuer) -> VerificationKeySet {
        try! VerificationKeySet(decoding: Array(text.utf8), for: issuer)
    }

    /// Returns a header with the parameters as JSON texts; `nil` removes one.
    static func header(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        object([("alg", #""ES256""#), ("typ", #""JWT""#), ("kid", #""ec""#)], changes)
    }

    /// Returns valid claims, changed by JSON texts; `nil` removes one.
    static func claims(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        object(
            [
                ("iss", "\"\(issuerText)\""), ("aud", #""hearth""#), ("sub", #""alice""#), ("iat", "1799999000"),
                ("exp", "1800003000"),
            ],
            changes
        )
    }

    /// Returns valid claims of Firebase.
    static func firebaseClaims(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        object(
            [
                ("iss", #""https://securetoken.google.com/my-app""#), ("aud", #""my-app""#), ("sub", #""alice""#),
                ("auth_time", "1799998000"), ("iat", "1799999000"), ("exp", "1800003000"),
            ],
            changes
        )
    }

    private static func object(_ members: [(String, String)], _ changes: KeyValuePairs<String, String?>) -> String {
        var members = members
        for (name, value) in changes {
            let index = members.firstIndex { $0.0 == name }
            switch (index, value) {
            case (let index?, let value?): members[index].1 = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
        return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    /// Returns a signed token.
    static func token(
        header: String = header(),
        claims: String = claims(),
        key: SigningKey = .p256
    ) -> [UInt8] {
        let text = Array((url(header.utf8) + "." + url(claims.utf8)).utf8)
        return text + Array(("." + url(key.signature(of: text))).utf8)
    }

    /// Returns the error of a token, or `nil` if it is verified.
    static func error(of token: [UInt8], at time: Timestamp = now) -> TokenError? {
        do throws(TokenError) {
            _ = try verifier.verify(token, at: time, keySets: keySets)
            return nil
        } catch {
            return error
        }
    }
}

extension TokenError {
    /// True for a token that does not have the form of a JSON Web Token.
    var isMalformed: Bool {
        if case .malformed = self { true } else { false }
    }

    /// The name of the invalid claim.
    var invalidClaim: UTF8Key? {
        if case .invalidClaim(let claim, _) = self { claim } else { nil }
    }
}
