/// Reports the findings and the progress of a check.
struct CheckReporter {
    /// The totals so far.
    var report = CheckReport()
    /// The expected number of documents; `nil` if it is unknown.
    var expectedDocuments: Int?

    private let onFinding: (CheckFinding) -> Void
    private let onProgress: (CheckProgress) -> Void
    private var steps = 0

    init(onFinding: @escaping (CheckFinding) -> Void, onProgress: @escaping (CheckProgress) -> Void) {
        self.onFinding = onFinding
        self.onProgress = onProgress
    }

    /// Reports a finding.
    mutating func add(_ finding: CheckFinding) {
        switch finding.kind {
        case .edited: report.editedDocuments += 1
        case .keptText: report.keptTexts += 1
        case .ignored: report.ignoredEntries += 1
        case .missingHistory: report.missingHistories += 1
        default: report.findings += 1
        }
        onFinding(finding)
    }

    /// Reports the progress after every 64th call.
    mutating func advance() {
        steps += 1
        if steps.isMultiple(of: 64) { reportProgress() }
    }

    /// Reports the progress.
    func reportProgress() {
        onProgress(CheckProgress(report: report, expectedDocuments: expectedDocuments))
    }
}
