import CLibCrypto

/// A public key that verifies signatures: RSA with PKCS #1 v1.5 and SHA-256, ECDSA with P-256 and SHA-256, or Ed25519.
///
/// A verification takes 20 to 150 µs of processor time, by the algorithm.
package struct PublicKey: Sendable {
    private let key: OpenSSLKey
    private let algorithm: Algorithm

    private enum Algorithm {
        case rsa, p256, ed25519
    }

    /// The number of bytes of a coordinate of P-256, of a number in its signatures, and of an Ed25519 key.
    private static let numberBytes = 32
    /// OpenSSL's name of P-256.
    private static let p256Name = "prime256v1"

    /// Creates an RSA key from the modulus and the public exponent, both as big-endian numbers.
    ///
    /// - Returns: `nil` if they can't be those of a key.
    package init?(rsaModulus modulus: [UInt8], exponent: [UInt8]) {
        let numbers = DER.sequence(DER.integer(modulus), DER.integer(exponent))
        // The product of two primes is odd.
        guard let last = modulus.last, last & 1 == 1,
            let key = OpenSSLKey(der: DER.publicKeyInfo(algorithm: DER.rsaAlgorithm, key: numbers))
        else { return nil }
        (self.key, algorithm) = (key, .rsa)
    }

    /// Creates a key of the curve P-256 from the coordinates of its point, both as big-endian numbers of 32 bytes.
    ///
    /// - Returns: `nil` if the point isn't on the curve.
    package init?(p256X x: [UInt8], y: [UInt8]) {
        guard x.count == Self.numberBytes, y.count == Self.numberBytes else { return nil }
        // An uncompressed point (SEC 1, section 2.3.3).
        guard let key = OpenSSLKey(der: DER.publicKeyInfo(algorithm: DER.p256Algorithm, key: [0x04] + x + y)) else { return nil }
        (self.key, algorithm) = (key, .p256)
    }

    /// Creates a key of the curve Ed25519 from its 32 bytes.
    package init?(ed25519 bytes: [UInt8]) {
        guard bytes.count == Self.numberBytes,
            let key = OpenSSLKey(der: DER.publicKeyInfo(algorithm: DER.ed25519Algorithm, key: bytes))
        else { return nil }
        (self.key, algorithm) = (key, .ed25519)
    }

    /// Returns whether a signature of a text was made with the private key of this key.
    ///
    /// - Parameter signature: For P-256 the two numbers in 64 bytes (RFC 7518, section 3.4), not DER.
    package func isValid(_ signature: [UInt8], for text: [UInt8]) -> Bool {
        switch algorithm {
        case .rsa: key.verifies(signature, for: text, HashFunction.sha256)
        case .p256: Self.derSignature(signature).map { key.verifies($0, for: text, HashFunction.sha256) } ?? false
        case .ed25519: key.verifies(signature, for: text, nil)
        }
    }

    /// Encodes the two numbers of an ECDSA signature in DER (RFC 3279, section 2.2.3).
    private static func derSignature(_ numbers: [UInt8]) -> [UInt8]? {
        guard numbers.count == 2 * numberBytes else { return nil }
        return DER.sequence(DER.integer(numbers.prefix(numberBytes)), DER.integer(numbers.suffix(numberBytes)))
    }
}

// MARK: - Decoding

extension PublicKey {
    /// The numbers of a public key in DER, big-endian.
    package enum Numbers: Equatable {
        case rsa(modulus: [UInt8], exponent: [UInt8])
        case p256(x: [UInt8], y: [UInt8])
        case ed25519([UInt8])
    }

    /// Decodes a public key in DER: a SubjectPublicKeyInfo (RFC 5280, section 4.1) or an RSAPublicKey (RFC 8017, appendix A.1.1).
    ///
    /// - Returns: `nil` if it isn't one of RSA, P-256 or Ed25519.
    package static func numbers(der bytes: [UInt8]) -> Numbers? {
        guard let key = OpenSSLKey(der: bytes) else { return nil }
        if key.isFor("RSA") {
            guard let modulus = key.number(OSSL_PKEY_PARAM_RSA_N), let exponent = key.number(OSSL_PKEY_PARAM_RSA_E) else {
                return nil
            }
            return .rsa(modulus: modulus, exponent: exponent)
        } else if key.isFor("EC"), key.isOn(curve: p256Name) {
            guard let x = key.number(OSSL_PKEY_PARAM_EC_PUB_X, byteCount: numberBytes),
                let y = key.number(OSSL_PKEY_PARAM_EC_PUB_Y, byteCount: numberBytes)
            else { return nil }
            return .p256(x: x, y: y)
        } else if key.isFor("ED25519") {
            return key.rawBytes(count: numberBytes).map(Numbers.ed25519)
        }
        return nil
    }
}
