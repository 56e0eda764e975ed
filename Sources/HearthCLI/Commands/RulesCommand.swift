import ArgumentParser
import DocumentModel
import SecurityRules

/// `hearth rules`
struct RulesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check security rules.",
        discussion: "Servers do not enforce rules yet.",
        subcommands: [Check.self]
    )

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compile a rules file, and print its errors and warnings.",
            discussion: """
                Prints one line for each: FILE:LINE:COLUMN - ERROR or WARNING, and the message. Exit status 1 if there are errors.
                """
        )

        @Argument(help: ArgumentHelp("Rules file, such as firestore.rules; - for standard input.", valueName: "file"))
        var path: String

        /// The maximum size of a rules file, that of Firestore.
        private static let maximumBytes = 256 << 10

        func run() throws {
            let file = try InputFile(path)
            let bytes = try file.readToEnd(maximumBytes: Self.maximumBytes)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw StatusError(.invalidArgument, "\(file.name) is not valid UTF-8.")
            }
            let issues = Self.issues(in: text)
            var output = BufferedOutput.standard()
            for issue in issues { try output.writeLine("\(file.name):\(issue)".utf8) }
            try output.flush()
            if issues.contains(where: { $0.severity == .error }) { throw ExitCode.failure }
        }

        private static func issues(in text: String) -> [RulesIssue] {
            do throws(RulesError) {
                return try Ruleset(text).warnings
            } catch {
                return error.issues
            }
        }
    }
}
