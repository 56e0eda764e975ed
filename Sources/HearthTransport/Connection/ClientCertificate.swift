internal import DocumentModel
internal import NIOSSL

/// A certificate with which a client identifies itself to servers that ask for one by TLS.
public struct ClientCertificate: Sendable, Hashable {
    /// The certificates in PEM format: that of the client first, followed by those of intermediate authorities.
    public var chain: [UInt8]
    /// The private key of the first certificate in PEM format, not encrypted.
    public var key: [UInt8]

    /// Creates a certificate from its chain and its key.
    public init(chain: [UInt8], key: [UInt8]) {
        (self.chain, self.key) = (chain, key)
    }

    /// Sets the certificate in a configuration.
    ///
    /// - Throws: `.invalidArgument` if a part cannot be read, or the key belongs to another certificate.
    func apply(to configuration: inout TLSConfiguration) throws(StatusError) {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(chain), !certificates.isEmpty else {
            throw StatusError(
                .invalidArgument,
                "Expected the client certificate in PEM format, which begins with -----BEGIN CERTIFICATE-----."
            )
        }
        guard let privateKey = try? NIOSSLPrivateKey(bytes: key, format: .pem) else {
            throw StatusError(
                .invalidArgument,
                "Expected the key of the client certificate in PEM format, not encrypted, which begins with -----BEGIN PRIVATE KEY-----."
            )
        }
        configuration.certificateChain = certificates.map { .certificate($0) }
        configuration.privateKey = .privateKey(privateKey)
        guard (try? NIOSSLContext(configuration: configuration)) != nil else {
            throw StatusError(.invalidArgument, "The private key does not belong to the client certificate.")
        }
    }
}
