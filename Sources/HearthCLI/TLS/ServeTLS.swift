import DocumentModel
import DocumentStore
import Foundation
import HearthHTTP
import Logging
import ServiceLifecycle
import UnixSignals

/// The certificate of a server, which follows its files.
struct ServeTLS: Service {
    let certificate: ServerCertificate
    private let certificatePath: String
    private let keyPath: String
    private let logger: Logger

    /// The interval at which the files are checked for changes.
    private static let maintenanceInterval = Duration.seconds(1)
    private static let maximumFileBytes = 1 << 20
    /// The numbers of days before the certificate expires at which the log warns of it.
    private static let warningDays = [30, 14, 7, 3, 1, 0]

    /// Reads the certificate; `nil` without TLS.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a certificate that cannot be used; an error for a file that cannot be read.
    init?(_ options: ServeTLSOptions, logger: Logger) throws {
        guard let certificatePath = options.tlsCertificate, let keyPath = options.tlsKey else { return nil }
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        self.logger = logger
        let (chain, key) = try Self.read(certificatePath, keyPath)
        do throws(StatusError) {
            certificate = try ServerCertificate(chain: chain, key: key, minimumVersion: options.tlsMinimumVersion)
        } catch {
            throw StatusError(
                error.code,
                "--tls-certificate \(certificatePath), --tls-key \(keyPath): \(error.message)",
                cause: error
            )
        }
    }

    private static func read(_ certificatePath: String, _ keyPath: String) throws -> (chain: [UInt8], key: [UInt8]) {
        (
            try InputFile(certificatePath).readToEnd(maximumBytes: maximumFileBytes),
            try InputFile(keyPath).readToEnd(maximumBytes: maximumFileBytes)
        )
    }

    /// Follows the files, until the server shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) { reload() }
                }
                group.addTask { await followFiles() }
                await group.waitForAll()
            }
        }
    }

    private func followFiles() async {
        var files = WatchedFiles()
        files.add(certificatePath)
        files.add(keyPath)
        var warnedDays: Int?
        repeat {
            if !files.takeChanges().isEmpty { reload() }
            warnOfExpiration(&warnedDays)
        } while (try? await Task.sleep(for: Self.maintenanceInterval)) != nil
    }

    private func reload() {
        do {
            let (chain, key) = try Self.read(certificatePath, keyPath)
            try certificate.replace(chain: chain, key: key)
            logger.notice("Certificate reloaded", metadata: ["tls.expiration": "\(certificate.expirationTime.rfc3339)"])
        } catch {
            logger.error(
                "Failed to reload the certificate; keeping the previous one",
                metadata: ["file": "\(certificatePath)", "error": "\(error)"]
            )
        }
    }

    /// Warns once for each of the days.
    private func warnOfExpiration(_ warnedDays: inout Int?) {
        let remaining = (certificate.expirationTime.microseconds - Timestamp.current().microseconds) / 86_400_000_000
        let due = Self.warningDays.last { remaining <= Int64($0) }
        defer { warnedDays = due }
        guard let due, due < warnedDays ?? .max else { return }
        logger.warning(
            remaining < 0 ? "The certificate has expired" : "The certificate expires soon",
            metadata: ["file": "\(certificatePath)", "tls.expiration": "\(certificate.expirationTime.rfc3339)"]
        )
    }
}
