import ArgumentParser
import DocumentModel
import HearthAPI
import HearthHTTP
import Logging
import UTF8Text

/// The log of `hearth serve`.
struct ServeLogOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Form of the log: text, logfmt, json, journald (with syslog priorities), or auto: journald if standard error goes to \
            systemd's journal, otherwise text.
            """,
            valueName: "form"
        )
    )
    var logFormat = LogFormat.auto

    @Option(
        help: ArgumentHelp(
            "Least level of log entries: trace, debug, info (the default), notice, warning, error or critical.",
            valueName: "level"
        ),
        transform: Self.level
    )
    var logLevel = Logger.Level.info

    @Flag(
        inversion: .prefixedNo,
        help: "Log each request when it has ended, streams too: method, path without query, status, size, duration and caller."
    )
    var accessLog = false

    @Option(
        help: ArgumentHelp(
            "Log requests that take longer as warnings, with the plans of their queries, except for streams; 0 logs none.",
            valueName: "milliseconds"
        )
    )
    var slowCallMs = 0

    @Option(
        help: ArgumentHelp(
            """
            File for the audit log: who created or revoked keys, signed in, changed rules, indexes or databases, exported or \
            imported, and when. Verify it with `hearth audit verify`.
            """,
            valueName: "file"
        )
    )
    var auditLog: String?

    func validate() throws {
        guard (0...86_400_000).contains(slowCallMs) else {
            throw ValidationError("--slow-call-ms must be between 0 and 86400000.")
        }
    }

    /// Opens the audit log; `nil` if there is none.
    func openAuditLog(logger: Logger) throws(StatusError) -> AuditLog? {
        guard let auditLog else { return nil }
        return try AuditLog(path: auditLog, logger: logger)
    }

    /// Applies the options to the server configuration.
    ///
    /// - Parameter logger: The logger of requests.
    func apply(to configuration: inout HTTPServerConfiguration, accessLogger logger: Logger) {
        if accessLog { configuration.accessLogger = logger }
        if slowCallMs > 0 { configuration.slowCallTime = .milliseconds(slowCallMs) }
    }

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            throw ValidationError(
                "--log-level: expected \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")), found \(Excerpt(text))."
            )
        }
        return level
    }
}
