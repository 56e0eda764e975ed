import ArgumentParser
import DocumentModel
import DocumentStore
import HearthAPI
import SecurityRules
import StrictJSON

extension RulesCommand {
    /// `hearth rules test`
    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Run a test suite on a rules file.",
            discussion: """
                The suite is a JSON file with the test cases of Google's Rules API, and documents, commits and queries beyond \
                that:

                {"documents": {"lists/1": {"owner": "alice"}},
                 "testCases": [{"name": "The owner reads", "expectation": "ALLOW",
                                "request": {"auth": {"uid": "alice"}, "method": "get", "path": "lists/1"}}]}

                Prints the results in the Test Anything Protocol, with the deciding allow statements as LINE:COLUMN. Requests \
                without a time are made now. Exit status 1 if a case fails, or if the rules have errors.
                """
        )

        @Argument(help: ArgumentHelp("Rules file, such as firestore.rules; - for standard input.", valueName: "rules"))
        var rulesPath: String

        @Argument(help: ArgumentHelp("Test suite in JSON; - for standard input.", valueName: "suite"))
        var suitePath: String

        @Flag(help: "Print the results as JSON, in the form of Google's Rules API.")
        var json = false

        @Flag(help: "Also print the values of each expression; with --json, as JSON on a second line.")
        var coverage = false

        /// The maximum size of a test suite.
        private static let maximumSuiteBytes = 16 << 20

        func validate() throws {
            guard rulesPath != "-" || suitePath != "-" else {
                throw ValidationError("Only one of the rules and the suite can be standard input.")
            }
        }

        func run() throws {
            let text = try RulesCommand.text(ofFile: rulesPath)
            let suite = try readSuite()
            let ruleset: Ruleset
            do throws(RulesError) {
                ruleset = try Ruleset(text)
            } catch {
                try printIssues(error.issues)
                throw ExitCode.failure
            }
            let report = suite.run(on: ruleset, at: .current(), environment: .standard)
            try printReport(report, of: ruleset)
            if report.failureCount > 0 { throw ExitCode.failure }
        }

        private func readSuite() throws(StatusError) -> RulesTestSuite {
            let file = try InputFile(suitePath)
            let bytes = try file.readToEnd(maximumBytes: Self.maximumSuiteBytes)
            let text: JSONText
            do throws(JSONSyntaxError) {
                text = try JSONText(bytes, limits: JSONLimits(maximumBytes: Self.maximumSuiteBytes))
            } catch {
                throw StatusError(.invalidArgument, "\(file.name): invalid JSON: \(error).")
            }
            do throws(StatusError) {
                return try RulesTestSuite(text)
            } catch {
                var error = error
                error.message = "\(file.name): \(error.message)"
                throw error
            }
        }

        private func printIssues(_ issues: [RulesIssue]) throws(StatusError) {
            guard json else { return try RulesCommand.printIssues(issues, ofFile: rulesPath) }
            var output = BufferedOutput.standard()
            try output.writeLine(RulesIssue.emulatorJSON(issues))
            try output.flush()
        }

        private func printReport(_ report: RulesTestReport, of ruleset: Ruleset) throws(StatusError) {
            var output = BufferedOutput.standard()
            if json {
                try output.writeLine(report.json)
                if coverage {
                    let name = RulesCommand.fileName(rulesPath)
                    try output.writeLine(report.coverage.emulatorJSON(of: ruleset, fileName: name))
                }
            } else {
                for line in report.lines { try output.writeLine(line.utf8) }
                if coverage {
                    for line in report.coverage.lines(of: ruleset) { try output.writeLine("# \(line)".utf8) }
                }
            }
            try output.flush()
        }
    }
}
