import DocumentModel
import DocumentStore
import FileStore
import Logging
import Synchronization
import UTF8Text

/// A database in a data folder to check.
enum CheckTarget {
    /// The default database of the data folder at a path.
    case defaultDatabase(folder: String)
    /// An additional database.
    case named(DatabaseID, DatabaseFolders)

    /// The additional measures that a repair may take.
    struct Repair {
        /// Rebuilds the index even if no fault was found.
        var rebuildsIndex = false
        /// Moves the journal aside if it is damaged in commits that recovery needs.
        var setsJournalAside = false
    }

    /// Checks the database completely, without changing anything.
    func check(onFinding: @escaping @Sendable (CheckFinding) -> Void) async throws(StatusError) -> CheckReport {
        try await check(.complete, onFinding: onFinding)
    }

    /// Checks the database, and if there are findings, repairs it and checks it again.
    ///
    /// The documents that the repair accepted are reported on standard error. So is a failed repair, which doesn't hide the
    /// findings of the check that follows.
    ///
    /// - Parameters:
    ///   - onEarlierFinding: Receives each finding of the check before a repair.
    ///   - onFinding: Receives each finding of the last check.
    func check(
        repairing repair: Repair,
        onEarlierFinding: @escaping @Sendable (CheckFinding) -> Void = { _ in },
        onFinding: @escaping @Sendable (CheckFinding) -> Void
    ) async throws -> CheckReport {
        // The first check also ensures that no data folder is created where none exists.
        let found = Findings()
        let first = try await check(.documents) { found.add($0) }
        guard first.findings > 0 || repair.rebuildsIndex else {
            for finding in found.all { onFinding(finding) }
            return first
        }
        for finding in found.all { onEarlierFinding(finding) }
        var failure: StatusError?
        do throws(StatusError) {
            if repair.setsJournalAside, let folder = try await setDamagedJournalAside() {
                Console.standardError.report(
                    "The damaged journal was moved to \(folder) in the data folder, and the documents stay as they are. Delete "
                        + "it when it is no longer needed."
                )
            }
            try await self.repair(repair, after: first)
        } catch {
            failure = error
        }
        let remaining = Findings()
        let report = try await check(.documents) { finding in
            remaining.add(finding)
            onFinding(finding)
        }
        if let failure {
            guard report.findings > 0 else { throw failure }
            Console.standardError.report(failure)
        }
        let left = Set(remaining.all)
        let accepted: Set<CheckFinding.Kind> = [.outdatedDocument, .futureUpdateTime]
        for finding in found.all where accepted.contains(finding.kind) && !left.contains(finding) {
            Console.standardError.report("Accepted \(finding.file.path) as it is: \(finding.fault)")
        }
        return report
    }

    /// The findings of a check.
    private final class Findings: Sendable {
        private let findings = Mutex<[CheckFinding]>([])

        var all: [CheckFinding] { findings.withLock { $0 } }

        func add(_ finding: CheckFinding) {
            findings.withLock { $0.append(finding) }
        }
    }

    private func check(
        _ depth: CheckDepth,
        onFinding: @escaping @Sendable (CheckFinding) -> Void
    ) async throws(StatusError) -> CheckReport {
        let console = Console.standardError
        defer { console.endProgress() }
        let printFinding = { @Sendable (finding: CheckFinding) in
            console.endProgress()
            onFinding(finding)
        }
        let estimate = ProgressEstimate()
        let onProgress = { @Sendable (progress: CheckProgress) in
            console.showProgress(progress.text(estimate))
        }
        switch self {
        case .defaultDatabase(let folder):
            return try await FileStore.check(folder, depth: depth, onFinding: printFinding, onProgress: onProgress)
        case .named(let id, let folders):
            return try await folders.check(id, depth: depth, onFinding: printFinding, onProgress: onProgress)
        }
    }

    private func repair(_ repair: Repair, after report: CheckReport) async throws(StatusError) {
        let logger = Logger(label: "hearth") { _ in LineLogHandler.standardError }
        let console = Console.standardError
        defer { console.endProgress() }
        let estimate = ProgressEstimate()
        let onProgress = { @Sendable (documents: Int) in
            let share = estimate.text(documents, of: report.documents)
            console.showProgress("\(documents) of \(report.documents.counted("document")) indexed\(share)")
        }
        switch self {
        case .defaultDatabase(let folder):
            try await FileStore.repair(
                folder,
                after: report,
                isRebuildForced: repair.rebuildsIndex,
                logger: logger,
                onProgress: onProgress
            )
        case .named(let id, let folders):
            try await folders.repair(
                id,
                after: report,
                isRebuildForced: repair.rebuildsIndex,
                logger: logger,
                onProgress: onProgress
            )
        }
    }

    private func setDamagedJournalAside() async throws(StatusError) -> String? {
        switch self {
        case .defaultDatabase(let folder): try await FileStore.setDamagedJournalAside(folder)
        case .named(let id, let folders): try await folders.setDamagedJournalAside(id)
        }
    }
}

extension CheckProgress {
    /// The progress as one line of text.
    fileprivate func text(_ estimate: ProgressEstimate) -> String {
        guard let expectedDocuments, expectedDocuments > 0, report.documents > 0 else {
            return "\(report.documents.counted("document")), \(report.commits.counted("commit")) checked"
        }
        guard report.documents < expectedDocuments else {
            return "\(report.documents.counted("document")) checked; reading the index"
        }
        let share = estimate.text(report.documents, of: expectedDocuments)
        return "\(report.documents) of \(expectedDocuments.counted("document")) checked\(share)"
    }
}
