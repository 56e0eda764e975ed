import DocumentModel
import DocumentStore
import Logging

/// A database of a data folder that is to be checked.
enum CheckedDatabase {
    /// The default one of the folder at a path.
    case standard(String)
    /// One of those beside it.
    case named(DatabaseID, DatabaseFolders)

    /// Checks it, and where that is wanted repairs it before. What can't be repaired is told, and hides nothing else that is wrong.
    ///
    /// - Parameters:
    ///   - repairs: Whether to repair what can be; it is looked at before, so that no folder is made where there is none.
    ///   - show: Prints a finding.
    func examine(repairing repairs: Bool, _ show: @escaping @Sendable (CheckFinding) -> Void) async throws -> CheckReport {
        var failure: StatusError?
        if repairs, try await check({ _ in }).findings > 0 {
            do throws(StatusError) {
                try await repair()
            } catch {
                failure = error
            }
        }
        let report = try await check(show)
        if let failure {
            guard report.findings > 0 else { throw failure }
            Console.standardError.report(failure)
        }
        return report
    }

    private func check(_ show: @escaping @Sendable (CheckFinding) -> Void) async throws(StatusError) -> CheckReport {
        let console = Console.standardError
        defer { console.endProgress() }
        let onFinding = { @Sendable (finding: CheckFinding) in
            console.endProgress()
            show(finding)
        }
        let onProgress = { @Sendable (report: CheckReport) in
            console.showProgress("\(report.documents) documents, \(report.commits) commits read")
        }
        switch self {
        case .standard(let folder):
            return try await FileStore.check(folder, onFinding: onFinding, onProgress: onProgress)
        case .named(let id, let folders):
            return try await folders.check(id, onFinding: onFinding, onProgress: onProgress)
        }
    }

    private func repair() async throws(StatusError) {
        let logger = Logger(label: "hearth") { LogOutput.handler(label: $0) }
        let console = Console.standardError
        defer { console.endProgress() }
        let onProgress = { @Sendable (documents: Int) in console.showProgress("\(documents) documents in the new index") }
        switch self {
        case .standard(let folder): try await FileStore.repair(folder, logger: logger, onProgress: onProgress)
        case .named(let id, let folders): try await folders.repair(id, logger: logger, onProgress: onProgress)
        }
    }
}
