package import DocumentModel
internal import DocumentStore
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// The certificate of a server for TLS, with its private key and the authorities whose clients it accepts. All can be replaced while
/// the server runs: new connections use the new ones, and open connections go on.
package final class ServerCertificate: Sendable {
    /// A version of TLS.
    package enum Version: String, CaseIterable, Sendable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    private struct State {
        var context: NIOSSLContext
        var expirationTime: Timestamp
        var intermediateExpirationTime: Timestamp?
    }

    private let state: Mutex<State>
    private let minimumVersion: Version

    /// Loads a certificate.
    ///
    /// - Parameter minimumVersion: The lowest version of TLS that clients may use.
    /// - Throws: A ``ServerCertificateError`` if a part cannot be read, the key belongs to another certificate, or the certificate has
    ///   expired.
    package init(_ content: ServerCertificateContent, minimumVersion: Version = .tls12) throws(ServerCertificateError) {
        self.minimumVersion = minimumVersion
        state = Mutex(try Self.load(content, minimumVersion))
    }

    /// Replaces the certificate. If this throws, the current one remains.
    ///
    /// - Throws: The errors of ``init(_:minimumVersion:)``.
    package func replace(by content: ServerCertificateContent) throws(ServerCertificateError) {
        let loaded = try Self.load(content, minimumVersion)
        state.withLock { $0 = loaded }
    }

    /// The time at which the server's own certificate expires.
    package var expirationTime: Timestamp { state.withLock(\.expirationTime) }

    /// The time at which the first of the intermediate authorities' certificates expires; `nil` without any.
    package var intermediateExpirationTime: Timestamp? { state.withLock(\.intermediateExpirationTime) }

    /// The certificate and settings of a new connection.
    var context: NIOSSLContext { state.withLock(\.context) }

    private static func load(
        _ content: ServerCertificateContent,
        _ minimumVersion: Version
    ) throws(ServerCertificateError) -> State {
        let certificates = try certificates(content.chain, of: .chain)
        guard let privateKey = try? NIOSSLPrivateKey(bytes: content.key, format: .pem) else {
            throw ServerCertificateError(
                .key,
                "The file has no private key in PEM format that is not encrypted, which begins with -----BEGIN PRIVATE KEY-----."
            )
        }
        let expirationTime = certificates[0].expirationTime
        guard expirationTime > .current() else {
            throw ServerCertificateError(.chain, "The certificate expired at \(expirationTime.rfc3339). Renew it.")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) },
            privateKey: .privateKey(privateKey)
        )
        configuration.minimumTLSVersion = minimumVersion == .tls13 ? .tlsv13 : .tlsv12
        configuration.applicationProtocols = ["h2", "http/1.1"]
        // Many clients never confirm the end of a connection.
        configuration.shutdownTimeout = .seconds(1)
        if let authorities = content.clientAuthorities {
            configuration.trustRoots = .certificates(try Self.certificates(authorities, of: .clientAuthorities))
            // A certificate is required; a client has no name to verify.
            configuration.certificateVerification = .noHostnameVerification
            // Clients with several certificates choose by them.
            configuration.sendCANameList = true
        }
        do {
            return State(
                context: try NIOSSLContext(configuration: configuration),
                expirationTime: expirationTime,
                intermediateExpirationTime: certificates.dropFirst().map(\.expirationTime).min()
            )
        } catch {
            throw ServerCertificateError(
                .key,
                "The private key does not belong to the first certificate of the certificate file. Pass the key that the certificate "
                    + "was issued for."
            )
        }
    }

    /// Parses certificates: at least one.
    private static func certificates(
        _ pem: [UInt8],
        of part: ServerCertificateContent.Part
    ) throws(ServerCertificateError) -> [NIOSSLCertificate] {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
            throw ServerCertificateError(
                part,
                "The file has no certificate in PEM format, which begins with -----BEGIN CERTIFICATE-----."
            )
        }
        return certificates
    }
}

extension NIOSSLCertificate {
    fileprivate var expirationTime: Timestamp {
        (try? Timestamp(microseconds: Int64(notValidAfter) * 1_000_000)) ?? .maximum
    }
}
