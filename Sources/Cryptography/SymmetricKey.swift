import CLibCrypto

/// A secret that makes and checks authentication codes: HMAC with SHA-256 (RFC 2104).
package struct SymmetricKey: Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns a new random key with 256 bits.
    package static func random() -> SymmetricKey {
        var generator = SystemRandomNumberGenerator()
        return SymmetricKey((0..<SHA256Digest.byteCount).map { _ in UInt8.random(in: 0...UInt8.max, using: &generator) })
    }

    /// Returns the key for one purpose, from which neither this one nor those for others can be found.
    package func derived(for purpose: String) -> SymmetricKey {
        SymmetricKey(Array(authenticationCode(for: Array(purpose.utf8))))
    }

    /// Returns the authentication code of a text.
    package func authenticationCode(for text: [UInt8]) -> SHA256Digest {
        SHA256Digest { HMAC(HashFunction.sha256.pointer, bytes, Int32(bytes.count), text, text.count, $0, nil) != nil }
    }

    /// Returns whether a code is the authentication code of a text. The comparison takes constant time.
    package func isValid(_ code: [UInt8], for text: [UInt8]) -> Bool {
        let expected = Array(authenticationCode(for: text))
        return code.count == expected.count && CRYPTO_memcmp(code, expected, expected.count) == 0
    }
}
