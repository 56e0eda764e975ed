package import DocumentModel

extension RulesTestSuite {
    /// Decides the requests of all cases.
    ///
    /// - Parameters:
    ///   - ruleset: The rules.
    ///   - now: The time of requests without one.
    ///   - environment: The functions that need more than their arguments.
    package func run(
        on ruleset: Ruleset,
        at now: Timestamp,
        environment: RulesEnvironment = RulesEnvironment()
    ) -> RulesTestReport {
        var coverage = RulesCoverage()
        let results = cases.map { run($0, on: ruleset, at: now, environment, &coverage) }
        return RulesTestReport(results: results, issues: ruleset.warnings, coverage: coverage)
    }

    private func run(
        _ testCase: RulesTestCase,
        on ruleset: Ruleset,
        at now: Timestamp,
        _ environment: RulesEnvironment,
        _ coverage: inout RulesCoverage
    ) -> RulesTestReport.Result {
        var environment = environment
        environment.mocks = testCase.mocks
        // Without it, evaluation discards the values.
        if environment.debug == nil { environment.debug = { _ in } }
        var session = RulesSession(
            operationCount: testCase.operations.count,
            environment: environment,
            collectsCoverage: true
        )
        let decisions = testCase.operations.map { operation in
            let request = RulesRequest(
                database: database,
                authentication: testCase.authentication,
                time: testCase.time ?? now,
                operation: operation
            )
            return ruleset.decide(request, in: &session) { access in
                access.isAfterCommit ? testCase.documents.after[access.path] : testCase.documents.before[access.path]
            }
        }
        let denied = decisions.first { !$0.isAllowed }
        let collected = session.coverage ?? RulesCoverage()
        coverage.merge(collected)
        return RulesTestReport.Result(
            name: testCase.name,
            isAllowExpected: testCase.expectation == .allow,
            isAllowed: denied == nil,
            grants: denied == nil ? decisions.flatMap(\.grants) : [],
            denials: denied?.denials ?? [],
            explanation: denied.map { String($0.explanation.drop { $0 == "\n" }) } ?? "",
            debugOutput: session.debugOutput,
            functionCalls: session.functionCalls,
            expressionReports: testCase.reportLevel == .none ? [] : collected.reports(of: ruleset),
            isReportOfVisited: testCase.reportLevel == .visited
        )
    }
}
