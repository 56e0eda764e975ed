/// A signature algorithm of JSON Web Signature (RFC 7518, section 3.1; RFC 8037, section 3.1).
package enum SignatureAlgorithm: String, Hashable, Sendable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// ECDSA with the curve P-256 and SHA-256.
    case es256 = "ES256"
    /// EdDSA with the curve Ed25519.
    case eddsa = "EdDSA"
    /// HMAC with SHA-256.
    case hs256 = "HS256"

    /// Creates an algorithm from its registered name, or `nil` if there is none. Names are case-sensitive.
    package init?(name: String) {
        guard let algorithm = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = algorithm
    }

    /// The names of all algorithms, for messages.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")
}
