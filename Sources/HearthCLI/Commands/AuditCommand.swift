import ArgumentParser
import DocumentModel
import HearthAPI
import UTF8Text

/// `hearth audit`
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Verify an audit log.",
        subcommands: [Verify.self]
    )

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verify that no line of an audit log was changed, removed or inserted.",
            discussion: """
                Each line has the SHA-256 of the line before. Verifies the file given to `hearth serve --audit-log` and the earlier \
                files beside it. Lines that were removed from the end don't show: compare the number and time of the last line \
                with what you expect.
                """
        )

        @Argument(help: ArgumentHelp("The audit log.", valueName: "file"))
        var file: String

        func run() throws {
            let result = try AuditVerification(path: file)
            guard let first = result.firstNumber, let last = result.lastNumber else { return print("The audit log is empty.") }
            print(
                "Lines \(first) to \(last) in \(result.fileCount.counted("file")): no changes found."
            )
        }
    }
}
