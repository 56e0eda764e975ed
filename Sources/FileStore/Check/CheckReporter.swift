/// Reports the findings and the progress of a check.
struct CheckReporter {
    /// The totals so far.
    var report = CheckReport()

    private let onFinding: (CheckFinding) -> Void
    private let onProgress: (CheckReport) -> Void
    private var steps = 0

    init(onFinding: @escaping (CheckFinding) -> Void, onProgress: @escaping (CheckReport) -> Void) {
        self.onFinding = onFinding
        self.onProgress = onProgress
    }

    /// Reports a finding.
    mutating func add(_ finding: CheckFinding) {
        if finding.isNotice { report.notices += 1 } else { report.findings += 1 }
        onFinding(finding)
    }

    /// Reports the progress after every 64th call.
    mutating func advance() {
        steps += 1
        if steps.isMultiple(of: 64) { onProgress(report) }
    }
}
