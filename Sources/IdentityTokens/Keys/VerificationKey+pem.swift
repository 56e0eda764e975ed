import Cryptography
import UTF8Text

extension VerificationKey {
    private static let publicKeyLabel: UTF8Key = "PUBLIC KEY"
    private static let rsaPublicKeyLabel: UTF8Key = "RSA PUBLIC KEY"
    private static let maximumPEMBytes = 16 << 10

    /// Decodes a public key in PEM format: RSA, P-256 or Ed25519.
    init(pem bytes: [UInt8]) throws(UnusableKey) {
        let (label, der) = try Self.document(bytes)
        guard label == Self.publicKeyLabel || label == Self.rsaPublicKeyLabel else {
            throw UnusableKey("expected a PUBLIC KEY in PEM format, found \(Excerpt(label.string, maximumBytes: 40))")
        }
        switch PublicKey.numbers(der: der) {
        case .rsa(let modulus, let exponent): self = try .rsa(nil, modulus: modulus, exponent: exponent)
        case .p256(let x, let y): self = try .p256(nil, x: x, y: y)
        case .ed25519(let bytes): self = try .ed25519(nil, x: bytes)
        case nil: throw UnusableKey("expected a key of RSA, P-256 or Ed25519, found another one")
        }
    }

    /// Decodes a file with one PEM document (RFC 7468, section 3).
    private static func document(_ bytes: [UInt8]) throws(UnusableKey) -> (label: UTF8Key, der: [UInt8]) {
        let lines = bytes.prefix(maximumPEMBytes + 1).split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        guard bytes.count <= maximumPEMBytes, let first = lines.first, let last = lines.last,
            let label = label(of: first, "-----BEGIN "), label == Self.label(of: last, "-----END "),
            let der = Base64.standard.decode(String(decoding: lines.dropFirst().dropLast().joined(), as: UTF8.self).utf8)
        else {
            throw UnusableKey("expected one public key in PEM format, -----BEGIN PUBLIC KEY----- to -----END PUBLIC KEY-----")
        }
        return (label, der)
    }

    private static func label(of line: ArraySlice<UInt8>, _ begin: String) -> UTF8Key? {
        let end = "-----"
        guard line.starts(with: begin.utf8), line.count > begin.utf8.count + end.utf8.count,
            line.suffix(end.utf8.count).elementsEqual(end.utf8)
        else {
            return nil
        }
        return UTF8Key(validating: line.dropFirst(begin.utf8.count).dropLast(end.utf8.count))
    }
}
