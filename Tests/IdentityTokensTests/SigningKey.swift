import Crypto
import CryptoExtras
import UTF8Text

@testable import IdentityTokens

/// A key that signs the tokens of tests, in any combination of algorithms that a forger may choose.
enum SigningKey: Sendable {
    case rsa(_RSA.Signing.PrivateKey)
    case p256(P256.Signing.PrivateKey)
    case ed25519(Curve25519.Signing.PrivateKey)
    case secret([UInt8])

    // Generating a key cannot fail.
    static let rsa = SigningKey.rsa(try! _RSA.Signing.PrivateKey(keySize: .bits2048))
    static let p256 = SigningKey.p256(P256.Signing.PrivateKey())
    static let ed25519 = SigningKey.ed25519(Curve25519.Signing.PrivateKey())
    static let secret = SigningKey.secret(Array("a secret of thirty-two bytes or more".utf8))

    /// Signs a text with the algorithm of the key.
    func signature(of text: [UInt8]) -> [UInt8] {
        // Signing cannot fail with valid keys.
        switch self {
        case .rsa(let key):
            Array(try! key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .p256(let key): Array(try! key.signature(for: text).rawRepresentation)
        case .ed25519(let key): Array(try! key.signature(for: text))
        case .secret(let bytes):
            Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: bytes)))
        }
    }

    /// The public key as a JWK with additional members.
    func jwk(_ id: String?, _ members: String = "") -> String {
        var parts: [String]
        switch self {
        case .rsa(let key):
            // Valid keys have their numbers.
            let numbers = try! key.publicKey.getKeyPrimitives()
            parts = [#""kty":"RSA","n":"\#(url(numbers.modulus))","e":"\#(url(numbers.publicExponent))""#]
        case .p256(let key):
            let point = Array(key.publicKey.rawRepresentation)
            parts = [#""kty":"EC","crv":"P-256","x":"\#(url(point.prefix(32)))","y":"\#(url(point.suffix(32)))""#]
        case .ed25519(let key):
            parts = [#""kty":"OKP","crv":"Ed25519","x":"\#(url(key.publicKey.rawRepresentation))""#]
        case .secret(let bytes):
            parts = [#""kty":"oct","k":"\#(url(bytes))""#]
        }
        if let id { parts.append(#""kid":"\#(id)""#) }
        if !members.utf8.isEmpty { parts.append(members) }
        return "{\(parts.joined(separator: ","))}"
    }

    /// The public key in PEM format.
    var pem: String {
        switch self {
        case .rsa(let key): key.publicKey.pemRepresentation
        case .p256(let key): key.publicKey.pemRepresentation
        case .ed25519(let key):
            """
            -----BEGIN PUBLIC KEY-----
            \(Base64.standard.encode([48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0] + Array(key.publicKey.rawRepresentation)))
            -----END PUBLIC KEY-----
            """
        case .secret: ""
        }
    }
}

/// Encodes bytes in base64url without padding.
func url(_ bytes: some Sequence<UInt8>) -> String {
    Base64.url.encode(Array(bytes))
}
