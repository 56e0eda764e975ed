import ArgumentParser
import DocumentModel
import SecurityRules

extension RulesCommand {
    /// `hearth rules check`
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compile a rules file, and print its errors and warnings.",
            discussion: """
                Prints one line for each: FILE:LINE:COLUMN - ERROR or WARNING, and the message. Exit status 1 if there are errors, \
                or with --strict warnings.
                """
        )

        @Argument(help: ArgumentHelp("Rules file, such as firestore.rules; - for standard input.", valueName: "file"))
        var path: String

        @Flag(help: "Treat warnings as errors.")
        var strict = false

        func run() throws {
            let text = try RulesCommand.text(ofFile: path)
            let issues: [RulesIssue]
            do throws(RulesError) {
                issues = try Ruleset(text).warnings
            } catch {
                issues = error.issues
            }
            try RulesCommand.printIssues(issues, ofFile: path)
            if issues.contains(where: { strict || $0.severity == .error }) { throw ExitCode.failure }
        }
    }

    /// Prints one line for each issue of a rules file.
    static func printIssues(_ issues: [RulesIssue], ofFile path: String) throws(StatusError) {
        var output = BufferedOutput.standard()
        for issue in issues { try output.writeLine("\(fileName(path)):\(issue)".utf8) }
        try output.flush()
    }

    /// Returns the name of a rules file in messages and reports.
    static func fileName(_ path: String) -> String { path == "-" ? "standard input" : path }
}
