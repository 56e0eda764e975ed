import Crypto
import CryptoExtras
import Testing
import UTF8Text

@testable import Cryptography

/// Signatures that another implementation, swift-crypto, has made.
@Suite("Public keys")
struct PublicKeyTests {
    private struct Signed {
        let key: PublicKey
        let der: [UInt8]
        let signature: [UInt8]
    }

    private func signed(_ text: [UInt8]) throws -> [Signed] {
        let (rsa, p256, ed25519) = (
            try _RSA.Signing.PrivateKey(keySize: .bits2048), P256.Signing.PrivateKey(), Curve25519.Signing.PrivateKey()
        )
        let numbers = try rsa.publicKey.getKeyPrimitives()
        let point = Array(p256.publicKey.rawRepresentation)
        return [
            Signed(
                key: try #require(PublicKey(rsaModulus: Array(numbers.modulus), exponent: Array(numbers.publicExponent))),
                der: Array(rsa.publicKey.derRepresentation),
                signature: Array(
                    try rsa.signature(for: Crypto.SHA256.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation
                )
            ),
            Signed(
                key: try #require(PublicKey(p256X: Array(point.prefix(32)), y: Array(point.suffix(32)))),
                der: Array(p256.publicKey.derRepresentation),
                signature: Array(try p256.signature(for: text).rawRepresentation)
            ),
            Signed(
                key: try #require(PublicKey(ed25519: Array(ed25519.publicKey.rawRepresentation))),
                der: DER.publicKeyInfo(algorithm: DER.ed25519Algorithm, key: Array(ed25519.publicKey.rawRepresentation)),
                signature: Array(try ed25519.signature(for: text))
            ),
        ]
    }

    @Test
    func `Signatures are valid for their text only`() throws {
        for round in 0..<40 {
            let text = (0..<round * 5).map { UInt8(truncatingIfNeeded: $0) }
            for signed in try signed(text) {
                #expect(signed.key.isValid(signed.signature, for: text))
                #expect(!signed.key.isValid(signed.signature, for: text + [0]))
                #expect(!signed.key.isValid(signed.signature.dropLast(), for: text))
                #expect(!signed.key.isValid(signed.signature + [0], for: text))
                #expect(!signed.key.isValid([], for: text))
                #expect(!signed.key.isValid([UInt8](repeating: 0, count: signed.signature.count), for: text))
                #expect(!signed.key.isValid([UInt8](repeating: 0xff, count: signed.signature.count), for: text))
                var other = signed.signature
                other[Int.random(in: other.indices)] ^= 1 << UInt8.random(in: 0..<8)
                #expect(!signed.key.isValid(other, for: text))
            }
        }
    }

    @Test
    func `Keys are decoded from DER, and altered or cut ones never crash`() throws {
        for signed in try signed([1]) {
            let numbers = try #require(PublicKey.numbers(der: signed.der))
            let key =
                switch numbers {
                case .rsa(let modulus, let exponent): PublicKey(rsaModulus: modulus, exponent: exponent)
                case .p256(let x, let y): PublicKey(p256X: x, y: y)
                case .ed25519(let bytes): PublicKey(ed25519: bytes)
                }
            #expect(try #require(key).isValid(signed.signature, for: [1]))
            #expect(PublicKey.numbers(der: signed.der + [0]) == nil)
            for index in signed.der.indices {
                #expect(PublicKey.numbers(der: Array(signed.der.prefix(index))) == nil)
                var other = signed.der
                other[index] ^= UInt8.random(in: 1...255)
                _ = PublicKey.numbers(der: other)
            }
        }
    }

    @Test
    func `Impossible keys are refused`() throws {
        #expect(PublicKey(p256X: [UInt8](repeating: 1, count: 32), y: [UInt8](repeating: 1, count: 32)) == nil)
        #expect(PublicKey(p256X: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(PublicKey(p256X: [1], y: [1]) == nil)
        #expect(PublicKey(ed25519: [1, 2, 3]) == nil)
        #expect(PublicKey(rsaModulus: [UInt8](repeating: 0xfe, count: 256), exponent: [1, 0, 1]) == nil)
        #expect(PublicKey(rsaModulus: [], exponent: []) == nil)
        // A key of another curve.
        #expect(PublicKey.numbers(der: Array(P384.Signing.PrivateKey().publicKey.derRepresentation)) == nil)
    }
}
