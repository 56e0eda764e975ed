/// Where a check reports what it finds, as it goes.
struct CheckLog {
    /// What has been looked at so far.
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

    /// Shows how far the check is, now and then.
    mutating func step() {
        steps += 1
        if steps.isMultiple(of: 64) { onProgress(report) }
    }
}
