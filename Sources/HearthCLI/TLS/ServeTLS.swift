import HearthHTTP
import Logging
import ServiceLifecycle
import UnixSignals

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

    /// Follows the files, until the server shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) { await files.reload() }
                }
                group.addTask {
                    repeat { await files.check() } while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil
                }
                await group.waitForAll()
            }
        }
    }
}
