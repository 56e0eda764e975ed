import Crypto
import CryptoExtras
import DocumentModel
import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("Key sets")
struct VerificationKeySetTests {
    private let all: Set<SignatureAlgorithm> = [.rs256, .es256, .eddsa]

    private func set(_ keys: [String], algorithms: Set<SignatureAlgorithm>? = nil) throws -> JSONWebKeySet {
        try JSONWebKeySet(Array(TokenFixtures.set(keys).utf8), algorithms: algorithms ?? all)
    }

    /// Returns the reason for which a key is skipped, beside a usable one.
    private func reason(_ key: String, algorithms: Set<SignatureAlgorithm>? = nil) throws -> String? {
        let set = try set([key, SigningKey.ed25519.jwk("good")], algorithms: algorithms)
        #expect(set.keys.last?.identity.id == "good" || !(algorithms ?? all).contains(.eddsa))
        #expect(set.skipped.first?.index ?? 0 == 0)
        return set.skipped.first?.reason
    }

    private func rsa(_ modulus: [UInt8], exponent: [UInt8] = [1, 0, 1]) -> String {
        #"{"kid":"a","kty":"RSA","n":"\#(url(modulus))","e":"\#(url(exponent))"}"#
    }

    @Test
    func `Keys are decoded with the algorithms of their types`() throws {
        let set = try set([
            SigningKey.rsa.jwk("a", #""alg":"RS256","use":"sig","x5t":"x""#), SigningKey.p256.jwk("b", #""key_ops":["verify"]"#),
            SigningKey.ed25519.jwk("c", #""alg":"EdDSA","key_ops":["sign","verify"]"#),
        ])
        #expect(set.skipped.isEmpty)
        #expect(set.keys.map(\.identity.algorithm) == [.rs256, .es256, .eddsa])
        #expect(set.keys.map(\.identity.id) == ["a", "b", "c"])
    }

    @Test(
        arguments: [
            ("1", "it has no key ID (kid)"),
            ("{}", "it has no key ID (kid)"),
            (SigningKey.p256.jwk(nil), "it has no key ID (kid)"),
            (SigningKey.p256.jwk(""), "it has no key ID (kid)"),
            (#"{"kid":"a"}"#, "it has no key type (kty)"),
            (#"{"kid":"a","kty":"oct","alg":"HS256"}"#, #"the key type "oct" is not supported"#),
            (
                SigningKey.secret([1]).jwk("a"),
                "it contains a private or symmetric key, with which anybody could sign tokens"
            ),
            (
                SigningKey.p256.jwk("a", #""d":"AA""#),
                "it contains a private or symmetric key, with which anybody could sign tokens"
            ),
            (#"{"kid":"a","kty":"EC","crv":"P-384"}"#, #"the key type "EC" with the curve "P-384" is not supported"#),
            (#"{"kid":"a","kty":"OKP","crv":"X25519"}"#, #"the key type "OKP" with the curve "X25519" is not supported"#),
            (SigningKey.rsa.jwk("a", #""use":"enc""#), "its use is not sig"),
            (SigningKey.rsa.jwk("a", #""use":1"#), "its use is not sig"),
            (SigningKey.rsa.jwk("a", #""key_ops":["encrypt"]"#), "its key_ops do not include verify"),
            (SigningKey.rsa.jwk("a", #""key_ops":"verify""#), "its key_ops do not include verify"),
            (SigningKey.rsa.jwk("a", #""alg":"RS512""#), #"its algorithm is "RS512", not RS256"#),
            (SigningKey.rsa.jwk("a", #""alg":"RSA-OAEP""#), #"its algorithm is "RSA-OAEP", not RS256"#),
            (SigningKey.rsa.jwk("a", #""alg":"HS256""#), #"its algorithm is "HS256", not RS256"#),
            (SigningKey.p256.jwk("a", #""alg":1"#), "its algorithm is no string, not ES256"),
            (#"{"kid":"a","kty":"RSA","e":"AQAB"}"#, "its member n is not base64url without padding"),
            (#"{"kid":"a","kty":"RSA","n":"A=","e":"AQAB"}"#, "its member n is not base64url without padding"),
            (#"{"kid":"a","kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, "the coordinates do not have 32 bytes"),
            (#"{"kid":"a","kty":"OKP","crv":"Ed25519","x":"AA"}"#, "the key does not have 32 bytes"),
        ]
    )
    func `An unusable key is skipped, and the others are used`(key: String, expected: String) throws {
        #expect(try reason(key) == expected)
    }

    @Test
    func `A point that is not on the curve is skipped`() throws {
        let point = url([UInt8](repeating: 1, count: 32))
        let key = #"{"kid":"a","kty":"EC","crv":"P-256","x":"\#(point)","y":"\#(point)"}"#
        #expect(try reason(key) == "the point is not on the curve P-256")
    }

    @Test
    func `RSA keys of unusual sizes are skipped`() throws {
        func modulus(bits: Int) -> [UInt8] {
            [UInt8(1 << ((bits - 1) % 8))] + [UInt8](repeating: 0xff, count: (bits - 1) / 8)
        }
        #expect(try reason(rsa(modulus(bits: 2_047))) == "the modulus has 2047 bits; expected 2048 to 8192")
        #expect(try reason(rsa([0, 0] + modulus(bits: 1_024))) == "the modulus has 1024 bits; expected 2048 to 8192")
        #expect(try reason(rsa(modulus(bits: 8_193))) == "the modulus has 8193 bits; expected 2048 to 8192")
        #expect(try reason(rsa([])) == "the modulus has 0 bits; expected 2048 to 8192")
        for bits in [2_048, 2_049, 4_096, 8_192] { #expect(try reason(rsa(modulus(bits: bits))) == nil) }
        #expect(try reason(rsa([0] + modulus(bits: 2_048))) == nil)
    }

    @Test(
        arguments: [[], [0], [1], [0, 1], [2], [1, 0, 0], [1, 0, 0, 0, 1], [UInt8](repeating: 255, count: 256)] as [[UInt8]]
    )
    func `RSA keys with unsafe exponents are skipped`(exponent: [UInt8]) throws {
        let modulus = [0x80] + [UInt8](repeating: 0xff, count: 255)
        #expect(try reason(rsa(modulus, exponent: exponent)) == "the public exponent is not an odd number from 3 to 2^32 − 1")
        #expect(try reason(rsa(modulus, exponent: [3])) == nil)
    }

    @Test
    func `An even RSA modulus does not crash`() throws {
        _ = try reason(rsa([UInt8](repeating: 0xfe, count: 256)))
    }

    @Test
    func `A second key with the same ID is skipped`() throws {
        let set = try set([SigningKey.rsa.jwk("a", #""use":"enc""#), SigningKey.p256.jwk("a"), SigningKey.ed25519.jwk("a")])
        #expect(set.keys.map(\.identity.algorithm) == [.es256])
        #expect(
            set.skipped.map(\.description)
                == [#"keys[0] ("a"): its use is not sig"#, #"keys[2] ("a"): an earlier key has the same key ID"#]
        )
    }

    @Test
    func `Keys for algorithms that the issuer does not use are skipped`() throws {
        #expect(try reason(SigningKey.p256.jwk("a"), algorithms: [.eddsa]) == "the issuer is not configured for ES256")
    }

    @Test
    func `A set has at most 64 KiB and 100 keys, and is strict JSON`() throws {
        let keys = (0..<100).map { SigningKey.ed25519.jwk("\($0)") }
        #expect(try set(keys).keys.count == 100)
        #expect(throws: StatusError.self) { try set(keys + [SigningKey.p256.jwk("x")]) }
        let large = SigningKey.ed25519.jwk("a", "\"x\":\"\(String(repeating: "x", count: 64 << 10))\"")
        #expect(throws: StatusError.self) { try set([large]) }
        for text in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#, #"{"keys":[{"kid":"a","kid":"b"}]}"#, "<html>"] {
            #expect(throws: StatusError.self) { try JSONWebKeySet(Array(text.utf8), algorithms: all) }
        }
    }

    @Test
    func `A set without a usable key is refused, with reasons`() {
        let key = SigningKey.p256.jwk("a", #""use":"enc""#)
        #expect(
            problem(TokenFixtures.set([key]), .keySetFile("a"), [.es256])
                == #"The key set has no usable key: keys[0] ("a"): its use is not sig."#
        )
        #expect(problem(#"{"keys":[]}"#, .keySetFile("a"), [.es256]) == "The key set has no usable key.")
    }

    @Test(arguments: [(SigningKey.rsa, SignatureAlgorithm.rs256), (.p256, .es256), (.ed25519, .eddsa)])
    func `A public key in PEM format is the only key of its issuer`(key: SigningKey, algorithm: SignatureAlgorithm) throws {
        for pem in [key.pem, key.pem + "\n", key.pem.replacing("\n", with: "\r\n") + "\r\n"] {
            let keys = try decode(pem, .publicKeyFile("key.pem"), [algorithm])
            #expect(keys.count == 1)
            for id in [nil, "a"] as [UTF8Key?] {
                let found = try #require(keys.key(withID: id))
                #expect(found.identity.algorithm == algorithm)
                #expect(found.isValid(key.signature(of: [1, 2, 3]), for: [1, 2, 3]))
            }
        }
        #expect(
            problem(key.pem, .publicKeyFile("key.pem"), Set(SignatureAlgorithm.allCases).subtracting([algorithm, .hs256]))
                == "The key file is not usable: its algorithm is \(algorithm.rawValue), which the issuer is not configured for."
        )
    }

    @Test
    func `An RSA key in the older PEM format is accepted`() throws {
        guard case .rsa(let key) = SigningKey.rsa else { return }
        let keys = try decode(key.publicKey.pkcs1PEMRepresentation, .publicKeyFile("key.pem"), [.rs256])
        #expect(keys.key(withID: nil)?.isValid(SigningKey.rsa.signature(of: [1]), for: [1]) == true)
    }

    @Test
    func `Other PEM files are refused without quoting them`() throws {
        guard case .p256(let key) = SigningKey.p256 else { return }
        let expected = "The key file is not usable: expected a PUBLIC KEY in PEM format, found"
        #expect(problem(key.pemRepresentation, .publicKeyFile("a"), [.es256]) == "\(expected) \"PRIVATE KEY\".")
        let malformed =
            "The key file is not usable: expected one public key in PEM format, -----BEGIN PUBLIC KEY----- to "
            + "-----END PUBLIC KEY-----."
        let pem = SigningKey.p256.pem
        for text in [
            "", "hunter2", pem + "\n" + pem, pem.replacing("END", with: "FIN"), pem.replacing("M", with: "!"), " \(pem)",
        ] {
            #expect(problem(text, .publicKeyFile("a"), [.es256]) == malformed)
        }
        let other = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"
        #expect(
            problem(other, .publicKeyFile("a"), [.es256])
                == "The key file is not usable: expected a key of RSA, P-256 or Ed25519, found another one."
        )
        let curve = P384.Signing.PrivateKey().publicKey.pemRepresentation
        #expect(problem(curve, .publicKeyFile("a"), [.es256])?.hasSuffix("found another one.") == true)
    }

    @Test
    func `A secret has at least 32 bytes, without the final line break`() throws {
        let secret = String(repeating: "s", count: 32)
        for ending in ["", "\n", "\r\n"] {
            let keys = try decode(secret + ending, .secretFile("a"), [.hs256])
            let signature = SigningKey.secret(Array(secret.utf8)).signature(of: [1])
            #expect(keys.key(withID: nil)?.isValid(signature, for: [1]) == true)
        }
        #expect(
            problem("\(secret.dropLast())\n", .secretFile("a"), [.hs256])
                == "The key file is not usable: the secret has 31 bytes; HS256 requires at least 32."
        )
    }

    private func decode(
        _ text: String,
        _ source: KeySource,
        _ algorithms: Set<SignatureAlgorithm>
    ) throws(StatusError) -> VerificationKeySet {
        let issuer = try TokenIssuer("a", audiences: ["a"], algorithms: algorithms, keySource: source)
        return try VerificationKeySet(decoding: Array(text.utf8), for: issuer)
    }

    private func problem(_ text: String, _ source: KeySource, _ algorithms: Set<SignatureAlgorithm>) -> String? {
        do throws(StatusError) {
            _ = try decode(text, source, algorithms)
            return nil
        } catch {
            return error.message
        }
    }
}
