package import DocumentModel
internal import DocumentStore
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// The certificate of a server for TLS, with its private key. It can be replaced while the server runs: new connections use the new
/// one, and open connections go on.
package final class ServerCertificate: Sendable {
    /// A version of TLS.
    package enum Version: String, CaseIterable, Sendable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    private struct State {
        var context: NIOSSLContext
        var expirationTime: Timestamp
    }

    private let state: Mutex<State>
    private let minimumVersion: Version

    /// Loads a certificate.
    ///
    /// - Parameters:
    ///   - chain: The certificates in PEM format, that of the server first, followed by those of intermediate authorities.
    ///   - key: The private key of the first certificate in PEM format, not encrypted.
    ///   - minimumVersion: The lowest version of TLS that clients may use.
    /// - Throws: ``StatusCode/invalidArgument`` if a part cannot be read, the key belongs to another certificate, or the certificate
    ///   has expired.
    package init(chain: [UInt8], key: [UInt8], minimumVersion: Version = .tls12) throws(StatusError) {
        self.minimumVersion = minimumVersion
        state = Mutex(try Self.load(chain, key, minimumVersion))
    }

    /// Replaces the certificate. If this throws, the current one remains.
    ///
    /// - Throws: The errors of ``init(chain:key:minimumVersion:)``.
    package func replace(chain: [UInt8], key: [UInt8]) throws(StatusError) {
        let loaded = try Self.load(chain, key, minimumVersion)
        state.withLock { $0 = loaded }
    }

    /// The time at which the first certificate of the chain to expire does.
    package var expirationTime: Timestamp { state.withLock(\.expirationTime) }

    /// The certificate and settings of a new connection.
    var context: NIOSSLContext { state.withLock(\.context) }

    private static func load(_ chain: [UInt8], _ key: [UInt8], _ minimumVersion: Version) throws(StatusError) -> State {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(chain), let first = certificates.first else {
            throw StatusError(
                .invalidArgument,
                "The certificate file has no certificate in PEM format, which begins with -----BEGIN CERTIFICATE-----."
            )
        }
        guard let privateKey = try? NIOSSLPrivateKey(bytes: key, format: .pem) else {
            throw StatusError(
                .invalidArgument,
                "The key file has no private key in PEM format that is not encrypted, which begins with -----BEGIN PRIVATE KEY-----."
            )
        }
        let expirationTime = certificates.map(\.expirationTime).min() ?? first.expirationTime
        guard expirationTime > .current() else {
            throw StatusError(.invalidArgument, "The certificate expired at \(expirationTime.rfc3339). Renew it.")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) },
            privateKey: .privateKey(privateKey)
        )
        configuration.minimumTLSVersion = minimumVersion == .tls13 ? .tlsv13 : .tlsv12
        configuration.applicationProtocols = ["h2", "http/1.1"]
        // Many clients never confirm the end of a connection.
        configuration.shutdownTimeout = .seconds(1)
        do {
            return State(context: try NIOSSLContext(configuration: configuration), expirationTime: expirationTime)
        } catch {
            throw StatusError(
                .invalidArgument,
                "The private key does not belong to the first certificate of the certificate file. Pass the key that the certificate "
                    + "was issued for.",
                cause: error
            )
        }
    }
}

extension NIOSSLCertificate {
    fileprivate var expirationTime: Timestamp {
        (try? Timestamp(microseconds: Int64(notValidAfter) * 1_000_000)) ?? .maximum
    }
}
