/// The elements of DER (X.690) that public keys and signatures consist of.
enum DER {
    /// The encoded object identifier 1.2.840.113549.1.1.1 with its empty parameters: RSA (RFC 3279, section 2.3.1).
    static let rsaAlgorithm: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00]
    /// The encoded object identifiers 1.2.840.10045.2.1 and 1.2.840.10045.3.1.7: a point of P-256 (RFC 5480, section 2.1.1).
    static let p256Algorithm: [UInt8] = [
        0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
    ]
    /// The encoded object identifier 1.3.101.112: Ed25519 (RFC 8410, section 3).
    static let ed25519Algorithm: [UInt8] = [0x06, 0x03, 0x2b, 0x65, 0x70]

    static func sequence(_ elements: [UInt8]...) -> [UInt8] {
        element(0x30, Array(elements.joined()))
    }

    /// - Parameter digits: The digits of a positive number, big-endian.
    static func integer(_ digits: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(digits.drop { $0 == 0 })
        // A leading one bit would make it negative.
        let needsZero = digits.first.map { $0 >= 0x80 } ?? true
        return element(0x02, needsZero ? [0] + digits : digits)
    }

    /// Returns the SubjectPublicKeyInfo of a key (RFC 5280, section 4.1).
    static func publicKeyInfo(algorithm: [UInt8], key: [UInt8]) -> [UInt8] {
        sequence(sequence(algorithm), element(0x03, [0] + key))
    }

    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        guard contents.count >= 0x80 else { return [tag, UInt8(contents.count)] + contents }
        let length = withUnsafeBytes(of: contents.count.bigEndian) { $0.drop { $0 == 0 } }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }
}
