import DocumentModel
import HearthHTTP
import Logging
import ServiceLifecycle

/// The TLS of a server, whose certificate follows its files.
struct ServeTLS: Service {
    private let files: CertificateFiles

    /// The interval at which the files are checked for changes.
    private static let maintenanceInterval = Duration.seconds(1)

    /// Reads the certificate; `nil` without TLS.
    ///
    /// - Throws: The errors of ``CertificateFiles/init(_:minimumVersion:logger:)``.
    init?(_ options: ServeTLSOptions, logger: Logger) throws {
        guard let paths = options.paths else { return nil }
        files = try CertificateFiles(paths, minimumVersion: options.tlsMinimumVersion, logger: logger)
    }

    /// The certificate that the server presents.
    var certificate: ServerCertificate { files.certificate }

    /// Reads the certificate again, from other files if their paths have changed.
    ///
    /// - Throws: An error for a certificate that cannot be used, or a file that cannot be read; nothing has changed then.
    func reload(_ paths: CertificateFiles.Paths) async throws(StatusError) { try await files.reload(paths) }

    /// Follows the files, until the server shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { await files.check() } while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil
        }
    }
}
