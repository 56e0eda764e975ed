internal import UTF8Text

/// The outcome of the cases of a test suite.
package struct RulesTestReport: Sendable {
    /// The results of the cases, in order.
    package let results: [Result]
    /// The warnings of the compiler.
    package let issues: [RulesIssue]
    /// The values of all expressions in all cases.
    package let coverage: RulesCoverage

    /// The number of cases whose decision is another one than expected.
    package var failureCount: Int { results.count { !$0.isSuccess } }

    /// The result of a case.
    package struct Result: Sendable {
        /// The name of the case, or a description of its request.
        package let name: String
        /// True if the request was expected to be allowed.
        package let isAllowExpected: Bool
        /// True if the request is allowed.
        package let isAllowed: Bool
        /// The allow statements that granted: one, or several for a query or a commit. None if the request is denied.
        package let grants: [SourcePosition]
        /// The allow statements that were tried in vain for the first operation that is denied; none if the request is allowed.
        package let denials: [RulesDecision.Denial]
        /// The reason of a denial in the words of Firestore's emulator; empty if the request is allowed.
        package let explanation: String
        /// The values that rules passed to `debug`.
        package let debugOutput: [String]
        /// The different calls of functions that read documents.
        package let functionCalls: [DocumentFunctionCall]
        /// The values of the expressions, if the case asks for them.
        package let expressionReports: [RulesCoverage.Report]
        /// True if only expressions that were evaluated are to be reported.
        let isReportOfVisited: Bool

        /// True if the decision is the expected one.
        package var isSuccess: Bool { isAllowed == isAllowExpected }
        /// The position of the first error of a condition; `nil` if there was none.
        package var errorPosition: SourcePosition? { denials.lazy.compactMap(\.error?.position).first }
    }
}

extension RulesTestReport {
    /// The report in the Test Anything Protocol: `ok 1 - name` for each case, and comments after a failed one.
    package var lines: [String] {
        var lines = ["1..\(results.count)"]
        for (index, result) in results.enumerated() { lines += result.lines(number: index + 1) }
        lines.append("# \(results.count - failureCount) passed, \(failureCount) failed")
        return lines
    }
}

extension RulesTestReport.Result {
    fileprivate func lines(number: Int) -> [String] {
        let title = "\(isSuccess ? "ok" : "not ok") \(number) - \(Excerpt(name, maximumBytes: 200).text)"
        let positions = grants.map(\.description).joined(separator: ", ")
        guard !isSuccess else { return [title + (isAllowed ? " (allowed at \(positions))" : " (denied)")] }
        var lines = [title, "# expected \(isAllowExpected ? "ALLOW" : "DENY"), but it is \(isAllowed ? "allowed" : "denied")"]
        if isAllowed { lines.append("# \(positions): allows") }
        if !isAllowed, denials.isEmpty { lines.append("# no allow statement matches") }
        for denial in denials {
            let reason = denial.error.map { "\($0.message) (\($0.position))" } ?? "false"
            lines.append("# \(denial.statement): \(Excerpt(reason, maximumBytes: 400).text)")
        }
        lines += functionCalls.map { "# call: \($0)" }
        lines += debugOutput.map { "# debug: \($0)" }
        return lines
    }
}
