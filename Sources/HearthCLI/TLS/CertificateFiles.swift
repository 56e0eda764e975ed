import Concurrency
import Dispatch
import DocumentModel
import DocumentStore
import HearthHTTP
import Logging
import StorageIO

/// The files of a server's certificate: reads them again when they change, on a thread of its own.
actor CertificateFiles {
    /// The paths of the files.
    struct Paths: Sendable {
        var chain: String
        var key: String
        /// The certificates of the authorities of clients; `nil` if clients need no certificate.
        var clientAuthorities: String?

        fileprivate var all: [String] { [chain, key] + (clientAuthorities.map { [$0] } ?? []) }

        fileprivate subscript(part: ServerCertificateContent.Part) -> String {
            switch part {
            case .chain: chain
            case .key: key
            case .clientAuthorities: clientAuthorities ?? ""
            }
        }

        fileprivate func option(_ part: ServerCertificateContent.Part) -> String {
            switch part {
            case .chain: "--tls-certificate \(chain)"
            case .key: "--tls-key \(key)"
            case .clientAuthorities: "--tls-client-ca \(clientAuthorities ?? "")"
            }
        }
    }

    /// A failure to read or use a file.
    private struct Failure: Error, Equatable {
        var path: String
        var message: String
    }

    /// The certificate in use.
    nonisolated let certificate: ServerCertificate
    private nonisolated let executor = SerialQueueExecutor(label: "hearth.certificate", qos: .utility)
    private var paths: Paths
    private let logger: Logger
    private var files = WatchedFiles()
    /// The last failure in the log, until the files can be used again.
    private var failure: Failure?
    /// The number of days before expiration of which the log has warned.
    private var warnedDays: Int?
    private var hasWarnedOfIntermediates = false

    private static let maximumFileBytes = 1 << 20
    /// The numbers of days before the certificate expires at which the log warns of it; negative once it has expired.
    private static let warningDays = [30, 14, 7, 3, 1, 0, -1]

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Reads the files. Blocks.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a certificate that cannot be used; an error for a file that cannot be read.
    init(_ paths: Paths, minimumVersion: ServerCertificate.Version, logger: Logger) throws {
        self.paths = paths
        self.logger = logger
        // Before they are read, so that a change in between is noticed.
        for path in paths.all { files.add(path) }
        let content = try Self.read(paths) { path throws(StatusError) in try Self.read(path) }
        do throws(ServerCertificateError) {
            certificate = try ServerCertificate(content, minimumVersion: minimumVersion)
        } catch {
            throw StatusError(.invalidArgument, "\(paths.option(error.part)): \(error.message)", cause: error)
        }
    }

    /// Reads the files again if they have changed, or could not be used the last time. Logs warnings of expiration.
    func check() {
        if !files.takeChanges().isEmpty { reload() }
        warnOfExpiration()
        warnOfIntermediates()
    }

    /// Reads the files again, or others. If they cannot be used, nothing changes.
    ///
    /// - Throws: An error for a certificate that cannot be used, or a file that cannot be read.
    func reload(_ paths: Paths) throws(StatusError) {
        var files = WatchedFiles()
        for path in paths.all { files.add(path) }
        do throws(Failure) {
            try replace(by: paths)
        } catch {
            throw StatusError(.invalidArgument, "\(error.path): \(error.message)")
        }
        (self.paths, self.files) = (paths, files)
        logReload()
    }

    /// Reads the files again. If they cannot be used, the current certificate remains, and the next check tries again.
    private func reload() {
        do throws(Failure) {
            try replace(by: paths)
        } catch {
            files.forget()
            guard error != failure else { return }
            failure = error
            logger.error(
                "Failed to reload the certificate; keeping the previous one",
                metadata: ["file": "\(error.path)", "error": "\(error.message)"]
            )
            return
        }
        logReload()
    }

    private func logReload() {
        failure = nil
        hasWarnedOfIntermediates = false
        logger.notice("Certificate reloaded", metadata: ["tls.expiration": "\(certificate.expirationTime.rfc3339)"])
    }

    private func replace(by paths: Paths) throws(Failure) {
        let content = try Self.read(paths) { path throws(Failure) in
            do throws(StatusError) {
                return try Self.read(path)
            } catch {
                throw Failure(path: path, message: error.message)
            }
        }
        do throws(ServerCertificateError) {
            try certificate.replace(by: content)
        } catch {
            throw Failure(path: paths[error.part], message: error.message)
        }
    }

    private static func read<Failure: Error>(
        _ paths: Paths,
        _ read: (String) throws(Failure) -> [UInt8]
    ) throws(Failure) -> ServerCertificateContent {
        var content = ServerCertificateContent(chain: try read(paths.chain), key: try read(paths.key))
        if let path = paths.clientAuthorities { content.clientAuthorities = try read(path) }
        return content
    }

    private static func read(_ path: String) throws(StatusError) -> [UInt8] {
        try InputFile(path, isRegular: true).readToEnd(maximumBytes: maximumFileBytes)
    }

    /// Warns once for each of the days.
    private func warnOfExpiration() {
        let microseconds = certificate.expirationTime.microseconds - Timestamp.current().microseconds
        let isExpired = microseconds <= 0
        let remaining = isExpired ? -1 : microseconds / 86_400_000_000
        let due = Self.warningDays.last { remaining <= Int64($0) }
        defer { warnedDays = due }
        guard let due, due < warnedDays ?? .max else { return }
        logger.warning(
            isExpired ? "The certificate has expired" : "The certificate expires soon",
            metadata: ["file": "\(paths.chain)", "tls.expiration": "\(certificate.expirationTime.rfc3339)"]
        )
    }

    private func warnOfIntermediates() {
        guard !hasWarnedOfIntermediates, let time = certificate.intermediateExpirationTime, time <= .current() else { return }
        hasWarnedOfIntermediates = true
        logger.warning(
            "A certificate of an intermediate authority has expired, so that clients may not trust the server",
            metadata: ["file": "\(paths.chain)", "tls.expiration": "\(time.rfc3339)"]
        )
    }
}
