import Crypto
import CryptoExtras
import UTF8Text

extension VerificationKey {
    private static let publicKeyLabel: UTF8Key = "PUBLIC KEY"
    private static let rsaPublicKeyLabel: UTF8Key = "RSA PUBLIC KEY"
    /// The encoding of an Ed25519 key up to its 32 bytes (RFC 8410, section 4).
    private static let ed25519Prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
    private static let maximumPEMBytes = 16 << 10

    /// Decodes a public key in PEM format: RSA, P-256 or Ed25519.
    init(pem bytes: [UInt8]) throws(UnusableKey) {
        let (label, der) = try Self.document(bytes)
        guard label == Self.publicKeyLabel || label == Self.rsaPublicKeyLabel else {
            throw UnusableKey("expected a PUBLIC KEY in PEM format, found \(Excerpt(label.string, maximumBytes: 40))")
        }
        if der.starts(with: Self.ed25519Prefix) {
            self = try .ed25519(nil, x: Array(der.dropFirst(Self.ed25519Prefix.count)))
        } else if let key = try? P256.Signing.PublicKey(derRepresentation: der) {
            let point = Array(key.rawRepresentation)
            self = try .p256(nil, x: Array(point.prefix(point.count / 2)), y: Array(point.suffix(point.count / 2)))
        } else if let numbers = try? _RSA.Signing.PublicKey(unsafeDERRepresentation: der).getKeyPrimitives() {
            self = try .rsa(nil, modulus: Array(numbers.modulus), exponent: Array(numbers.publicExponent))
        } else {
            throw UnusableKey("expected a key of RSA, P-256 or Ed25519, found another one")
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
