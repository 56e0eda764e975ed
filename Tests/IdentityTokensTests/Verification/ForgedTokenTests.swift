import Crypto
import CryptoExtras
import DocumentModel
import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("Forged ID tokens")
struct ForgedTokenTests {
    private static let rsaHeader = TokenFixtures.header(["alg": #""RS256""#, "kid": #""rsa""#])

    @Test(arguments: ["none", "None", "nOnE", "NONE", ""])
    func `An unsigned token is refused`(algorithm: String) {
        let header = TokenFixtures.header(["alg": "\"\(algorithm)\""])
        let token = Array((url(header.utf8) + "." + url(TokenFixtures.claims().utf8) + ".").utf8)
        #expect(TokenFixtures.error(of: token) == .forbiddenAlgorithm)
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: header)) == .forbiddenAlgorithm)
    }

    @Test(arguments: ["RS256", "ES256", "EdDSA"])
    func `An empty signature is refused`(algorithm: String) {
        let id = ["RS256": "rsa", "ES256": "ec", "EdDSA": "ed"][algorithm] ?? ""
        let header = TokenFixtures.header(["alg": "\"\(algorithm)\"", "kid": "\"\(id)\""])
        let token = Array((url(header.utf8) + "." + url(TokenFixtures.claims().utf8) + ".").utf8)
        #expect(TokenFixtures.error(of: token) == .badSignature)
    }

    @Test(arguments: [
        "RS256", "RS384", "RS512", "PS256", "HS384", "HS512", "ES384", "ES256K", "Ed25519", "rs256", "RS256 ",
        "RS256\\u0000", "dir",
    ])
    func `Another algorithm than that of the key is refused, and the key keeps its own`(algorithm: String) {
        let header = TokenFixtures.header(["alg": "\"\(algorithm)\""])
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: header)) == .forbiddenAlgorithm)
        #expect(TokenFixtures.error(of: TokenFixtures.token()) == nil)
    }

    @Test
    func `A public key is no shared secret`() throws {
        guard case .rsa(let key) = SigningKey.rsa else { return }
        let secrets = [
            Array(SigningKey.rsa.pem.utf8), Array((SigningKey.rsa.pem + "\n").utf8), Array(key.publicKey.derRepresentation),
            Array(key.publicKey.pkcs1DERRepresentation), Array(try key.publicKey.getKeyPrimitives().modulus),
            Array(SigningKey.rsa.jwk("rsa").utf8),
        ]
        for secret in secrets {
            for (issuer, id) in [(TokenFixtures.issuerText, "rsa"), ("tests", "rsa"), ("tests", "x")] {
                let token = TokenFixtures.token(
                    header: TokenFixtures.header(["alg": #""HS256""#, "kid": "\"\(id)\""]),
                    claims: TokenFixtures.claims(["iss": "\"\(issuer)\""]),
                    key: .secret(secret)
                )
                #expect(TokenFixtures.error(of: token) == (issuer == "tests" ? .badSignature : .forbiddenAlgorithm))
            }
        }
    }

    @Test
    func `The header cannot choose the algorithm of a key`() {
        for (algorithm, id) in [("RS256", "ec"), ("RS256", "ed"), ("ES256", "rsa"), ("ES256", "ed"), ("EdDSA", "ec")] {
            for key in [SigningKey.rsa, .p256, .ed25519] {
                let header = TokenFixtures.header(["alg": "\"\(algorithm)\"", "kid": "\"\(id)\""])
                #expect(TokenFixtures.error(of: TokenFixtures.token(header: header, key: key)) == .forbiddenAlgorithm)
            }
        }
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: Self.rsaHeader, key: .rsa)) == nil)
    }

    @Test
    func `An algorithm that the issuer does not use is refused before its key is looked up`() {
        let header = TokenFixtures.header(["alg": #""HS256""#, "kid": #""other""#])
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: header, key: .secret)) == .forbiddenAlgorithm)
    }

    @Test
    func `Another key of the same kind is refused`() {
        #expect(TokenFixtures.error(of: TokenFixtures.token(key: .p256(.init()))) == .badSignature)
        let header = TokenFixtures.header(["alg": #""EdDSA""#, "kid": #""ed""#])
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: header, key: .ed25519(.init()))) == .badSignature)
    }

    @Test
    func `The padding of RSASSA-PSS is refused for RS256`() throws {
        guard case .rsa(let key) = SigningKey.rsa else { return }
        let text = Array((url(Self.rsaHeader.utf8) + "." + url(TokenFixtures.claims().utf8)).utf8)
        let signature = try key.signature(for: SHA256.hash(data: text), padding: .PSS)
        #expect(TokenFixtures.error(of: text + Array(("." + url(signature.rawRepresentation)).utf8)) == .badSignature)
    }

    @Test
    func `A signature of another hash is refused for RS256`() throws {
        guard case .rsa(let key) = SigningKey.rsa else { return }
        let text = Array((url(Self.rsaHeader.utf8) + "." + url(TokenFixtures.claims().utf8)).utf8)
        let signature = try key.signature(for: SHA512.hash(data: text), padding: .insecurePKCS1v1_5)
        #expect(TokenFixtures.error(of: text + Array(("." + url(signature.rawRepresentation)).utf8)) == .badSignature)
    }

    @Test
    func `An ECDSA signature in DER is refused`() throws {
        guard case .p256(let key) = SigningKey.p256 else { return }
        let text = Array((url(TokenFixtures.header().utf8) + "." + url(TokenFixtures.claims().utf8)).utf8)
        let signature = try key.signature(for: text).derRepresentation
        #expect(TokenFixtures.error(of: text + Array(("." + url(signature)).utf8)) == .badSignature)
    }

    @Test(arguments: [SigningKey.rsa, .p256, .ed25519, .secret])
    func `A signature that is shortened, extended, zero or all ones is refused`(key: SigningKey) {
        let algorithm =
            switch key {
            case .rsa: ("RS256", "rsa")
            case .p256: ("ES256", "ec")
            case .ed25519: ("EdDSA", "ed")
            case .secret: ("HS256", "x")
            }
        let header = TokenFixtures.header(["alg": "\"\(algorithm.0)\"", "kid": "\"\(algorithm.1)\""])
        let claims = TokenFixtures.claims(["iss": algorithm.0 == "HS256" ? #""tests""# : "\"\(TokenFixtures.issuerText)\""])
        let text = Array((url(header.utf8) + "." + url(claims.utf8)).utf8)
        let signature = key.signature(of: text)
        #expect(TokenFixtures.error(of: text + Array(("." + url(signature)).utf8)) == nil)
        let forged: [[UInt8]] = [
            signature.dropLast(), Array(signature.dropFirst()), Array(signature.prefix(signature.count / 2)), [0] + signature,
            signature + [0], signature + signature, Array(repeating: 0, count: signature.count),
            Array(repeating: 0xff, count: signature.count), signature.reversed(), [],
        ]
        for signature in forged {
            #expect(TokenFixtures.error(of: text + Array(("." + url(signature)).utf8)) == .badSignature)
        }
    }

    @Test
    func `A changed payload or header is refused`() {
        let token = String(decoding: TokenFixtures.token(), as: UTF8.self).split(separator: ".")
        let claims = url(TokenFixtures.claims(["sub": #""alicf""#]).utf8)
        #expect(TokenFixtures.error(of: Array("\(token[0]).\(claims).\(token[2])".utf8)) == .badSignature)
        let header = url(TokenFixtures.header(["x": "1"]).utf8)
        #expect(TokenFixtures.error(of: Array("\(header).\(token[1]).\(token[2])".utf8)) == .badSignature)
    }

    @Test
    func `A key of another issuer is refused`() {
        let header = TokenFixtures.header(["alg": #""RS256""#, "kid": #""firebase""#])
        let issuer = TokenFixtures.issuer.issuer
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: header, key: .rsa)) == .unknownKey(issuer: issuer))
        let claims = TokenFixtures.firebaseClaims()
        let token = TokenFixtures.token(header: Self.rsaHeader, claims: claims, key: .rsa)
        #expect(TokenFixtures.error(of: token) == .unknownKey(issuer: TokenFixtures.firebase.issuer))
        let secret = TokenFixtures.token(header: TokenFixtures.header(["alg": #""HS256""#]), key: .secret)
        #expect(TokenFixtures.error(of: secret) == .forbiddenAlgorithm)
    }

    @Test
    func `An unknown key ID is refused`() {
        for id in [#""other""#, #""EC""#, #""ec ""#, #""ec\u0000""#] {
            let token = TokenFixtures.token(header: TokenFixtures.header(["kid": id]))
            #expect(TokenFixtures.error(of: token) == .unknownKey(issuer: TokenFixtures.issuer.issuer))
        }
    }

    @Test(arguments: [nil, "1", "null", #""""#, #"["ec"]"#])
    func `A missing or invalid key ID is refused`(id: String?) {
        #expect(TokenFixtures.error(of: TokenFixtures.token(header: TokenFixtures.header(["kid": id])))?.isMalformed == true)
    }

    @Test
    func `An encryption key of the set verifies nothing`() throws {
        let issuer = TokenFixtures.issuer
        let set = TokenFixtures.set([
            SigningKey.rsa.jwk("rsa", #""use":"enc","alg":"RSA-OAEP""#), SigningKey.rsa.jwk("rsa2", #""alg":"RSA-OAEP-256""#),
            SigningKey.p256.jwk("ec"),
        ])
        let keys = try VerificationKeySet(decoding: Array(set.utf8), for: issuer)
        for id in ["rsa", "rsa2"] {
            let header = TokenFixtures.header(["alg": #""RS256""#, "kid": "\"\(id)\""])
            #expect(throws: TokenError.unknownKey(issuer: issuer.issuer)) {
                try TokenFixtures.verifier.verify(
                    TokenFixtures.token(header: header, key: .rsa),
                    at: TokenFixtures.now,
                    keySets: [issuer.issuer: keys]
                )
            }
        }
    }

    @Test
    func `An issuer without loaded keys verifies nothing`() {
        let issuer = TokenFixtures.issuer.issuer
        #expect(throws: TokenError.keysUnavailable(issuer: issuer)) {
            try TokenFixtures.verifier.verify(TokenFixtures.token(), at: TokenFixtures.now, keySets: [:])
        }
        #expect(TokenError.keysUnavailable(issuer: issuer).isTemporary)
        #expect(!TokenError.badSignature.isTemporary)
    }
}
