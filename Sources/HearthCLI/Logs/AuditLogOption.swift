import ArgumentParser
import DocumentModel
import HearthAPI
import Logging

/// The audit log in which a command records what it does to a data folder without a server.
struct AuditLogOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Audit log in which to record the command, such as that of the stopped server.", valueName: "file"),
        completion: .file()
    )
    var auditLog: String?

    /// Runs a command, and records it with its outcome.
    ///
    /// - Parameter folder: The data folder.
    func audited<Result>(
        _ action: AuditEvent.Action,
        on folder: String,
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard let auditLog else { return try await body() }
        let log = try AuditLog(path: auditLog, logger: Logger(label: "hearth.audit") { _ in LineLogHandler.standardError })
        do {
            let result = try await body()
            await log.recordDurably(AuditEvent(action, on: folder, by: .system))
            return result
        } catch {
            let statusError = error as? StatusError ?? StatusError(.unknown, "\(error)")
            await log.recordDurably(AuditEvent(action, on: folder, by: .system, error: statusError))
            throw error
        }
    }
}
