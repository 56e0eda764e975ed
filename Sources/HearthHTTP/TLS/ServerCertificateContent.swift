/// The parts of a ``ServerCertificate``, in PEM format.
package struct ServerCertificateContent: Sendable {
    /// A part.
    package enum Part: Sendable {
        case chain
        case key
        case clientAuthorities
    }

    /// The certificates, that of the server first, followed by those of intermediate authorities.
    package var chain: [UInt8]
    /// The private key of the first certificate, not encrypted.
    package var key: [UInt8]
    /// The certificates of the authorities whose clients are accepted; `nil` to accept clients without a certificate.
    package var clientAuthorities: [UInt8]?

    /// Creates the content from its parts.
    package init(chain: [UInt8], key: [UInt8], clientAuthorities: [UInt8]? = nil) {
        (self.chain, self.key, self.clientAuthorities) = (chain, key, clientAuthorities)
    }
}

/// The reason why a certificate cannot be used.
package struct ServerCertificateError: Error, CustomStringConvertible {
    /// The part at fault.
    package let part: ServerCertificateContent.Part
    /// The fault, and what to do.
    package let message: String

    init(_ part: ServerCertificateContent.Part, _ message: String) {
        (self.part, self.message) = (part, message)
    }

    package var description: String { message }
}
