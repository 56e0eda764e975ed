import Cryptography
package import UTF8Text

/// The identity of a key that verified a token.
package struct KeyIdentity: Hashable, Sendable {
    /// The key ID (RFC 7515, section 4.1.4); `nil` for the only key of an issuer.
    package let id: UTF8Key?
    /// The algorithm that the key is used with.
    package let algorithm: SignatureAlgorithm
    /// The SHA-256 digest of the key.
    package let digest: [UInt8]
}

/// A key that verifies signatures of one algorithm.
struct VerificationKey: Sendable {
    let identity: KeyIdentity
    private let material: Material

    private enum Material: Sendable {
        case publicKey(PublicKey)
        case secret(SymmetricKey)
    }

    private static let rsaBits = 2_048...8_192
    private static let maximumExponentBytes = 4
    private static let coordinateBytes = 32
    private static let minimumSecretBytes = 32

    private init(_ id: UTF8Key?, _ algorithm: SignatureAlgorithm, bytes: some Collection<UInt8>, _ material: Material) {
        identity = KeyIdentity(id: id, algorithm: algorithm, digest: Array(SHA256.digest(of: Array(bytes))))
        self.material = material
    }

    /// Creates an RSA key from the modulus and the public exponent, both as big-endian numbers.
    static func rsa(_ id: UTF8Key?, modulus: [UInt8], exponent: [UInt8]) throws(UnusableKey) -> VerificationKey {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard rsaBits.contains(bits) else {
            throw UnusableKey("the modulus has \(bits) bits; expected \(rsaBits.lowerBound) to \(rsaBits.upperBound)")
        }
        // An exponent of 1 makes any text its own signature, and a large one makes verification slow.
        guard exponent.count <= maximumExponentBytes, let last = exponent.last, last & 1 == 1, exponent != [1] else {
            throw UnusableKey("the public exponent is not an odd number from 3 to 2^32 − 1")
        }
        guard let key = PublicKey(rsaModulus: modulus, exponent: exponent) else {
            throw UnusableKey("it is not a valid RSA key")
        }
        return VerificationKey(id, .rs256, bytes: modulus + exponent, .publicKey(key))
    }

    /// Creates a key of the curve P-256 from the coordinates of its point.
    static func p256(_ id: UTF8Key?, x: [UInt8], y: [UInt8]) throws(UnusableKey) -> VerificationKey {
        guard x.count == coordinateBytes, y.count == coordinateBytes else {
            throw UnusableKey("the coordinates do not have \(coordinateBytes) bytes")
        }
        guard let key = PublicKey(p256X: x, y: y) else {
            throw UnusableKey("the point is not on the curve P-256")
        }
        return VerificationKey(id, .es256, bytes: x + y, .publicKey(key))
    }

    /// Creates a key of the curve Ed25519.
    static func ed25519(_ id: UTF8Key?, x: [UInt8]) throws(UnusableKey) -> VerificationKey {
        guard x.count == coordinateBytes, let key = PublicKey(ed25519: x) else {
            throw UnusableKey("the key does not have \(coordinateBytes) bytes")
        }
        return VerificationKey(id, .eddsa, bytes: x, .publicKey(key))
    }

    /// Creates the key of HS256.
    static func secret(_ bytes: [UInt8]) throws(UnusableKey) -> VerificationKey {
        guard bytes.count >= minimumSecretBytes else {
            throw UnusableKey("the secret has \(bytes.count.counted("byte")); HS256 requires at least \(minimumSecretBytes)")
        }
        return VerificationKey(nil, .hs256, bytes: bytes, .secret(SymmetricKey(bytes)))
    }

    /// Returns whether a signature of the text was made with this key, by the key's own algorithm.
    func isValid(_ signature: [UInt8], for text: [UInt8]) -> Bool {
        switch material {
        case .publicKey(let key): key.isValid(signature, for: text)
        case .secret(let key): key.isValid(signature, for: text)
        }
    }
}

/// A reason why a key cannot be used. It never quotes the key.
struct UnusableKey: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
