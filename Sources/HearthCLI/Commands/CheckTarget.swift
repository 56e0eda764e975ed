import DocumentModel
import DocumentStore
import FileStore
import Logging

/// A database in a data folder to check.
enum CheckTarget {
    /// The default database of the data folder at a path.
    case defaultDatabase(folder: String)
    /// An additional database.
    case named(DatabaseID, DatabaseFolders)

    /// Checks the database, after repairing it if requested.
    ///
    /// A failed repair is reported on standard error and doesn't hide the findings of the check that follows.
    ///
    /// - Parameters:
    ///   - repairs: Whether to repair the database. A first check without output precedes the repair, so that no data folder
    ///     is created where none exists.
    ///   - onFinding: Receives each finding.
    func check(
        repairing repairs: Bool,
        onFinding: @escaping @Sendable (CheckFinding) -> Void
    ) async throws -> CheckReport {
        var failure: StatusError?
        if repairs, try await check(onFinding: { _ in }).findings > 0 {
            do throws(StatusError) {
                try await repair()
            } catch {
                failure = error
            }
        }
        let report = try await check(onFinding: onFinding)
        if let failure {
            guard report.findings > 0 else { throw failure }
            Console.standardError.report(failure)
        }
        return report
    }

    private func check(onFinding: @escaping @Sendable (CheckFinding) -> Void) async throws(StatusError) -> CheckReport {
        let console = Console.standardError
        defer { console.endProgress() }
        let printFinding = { @Sendable (finding: CheckFinding) in
            console.endProgress()
            onFinding(finding)
        }
        let onProgress = { @Sendable (report: CheckReport) in
            console.showProgress("\(report.documents) documents, \(report.commits) commits checked")
        }
        switch self {
        case .defaultDatabase(let folder):
            return try await FileStore.check(folder, onFinding: printFinding, onProgress: onProgress)
        case .named(let id, let folders):
            return try await folders.check(id, onFinding: printFinding, onProgress: onProgress)
        }
    }

    private func repair() async throws(StatusError) {
        let logger = Logger(label: "hearth") { LogOutput.handler(label: $0) }
        let console = Console.standardError
        defer { console.endProgress() }
        let onProgress = { @Sendable (documents: Int) in console.showProgress("\(documents) documents indexed") }
        switch self {
        case .defaultDatabase(let folder): try await FileStore.repair(folder, logger: logger, onProgress: onProgress)
        case .named(let id, let folders): try await folders.repair(id, logger: logger, onProgress: onProgress)
        }
    }
}
