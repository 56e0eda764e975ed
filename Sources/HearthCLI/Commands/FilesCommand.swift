import ArgumentParser
import HearthTransport
import HearthWire
import StrictJSON
import UTF8Text

/// `hearth files`
struct FilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "Look after edits of document files by other programs.",
        discussion: """
            A server makes commits of edits of files in its data folder. An edit that cannot become a commit is kept, and listed here \
            until its file is gone. Needs a key with the role admin, if the server requires keys.
            """,
        subcommands: [Problems.self, AcceptRemoved.self],
        defaultSubcommand: Problems.self
    )

    struct Problems: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the edits that need a person.",
            discussion: "Exit status: 0 if there are none, 1 if there are."
        )

        @OptionGroup var server: DatabaseOptions

        @Flag(help: "Print the response of the server, a JSON object.")
        var json = false

        func run() async throws {
            let result = try await server.withConnection { connection in
                try await connection.call("files.problems") { $0.member("pageSize", 1_000) }
            }
            var output = BufferedOutput.standard()
            if json {
                try output.writeLine(result.rawBytes)
            } else {
                try print(result, to: &output)
            }
            try output.flush()
            if let count: Int = result.integer("count"), count > 0 { throw ExitCode.failure }
        }

        private func print(_ result: JSONNode, to output: inout BufferedOutput) throws {
            var shownCount = 0
            if let problems = result["problems"]?.elements {
                for problem in problems {
                    shownCount += 1
                    let line: Int? = problem.integer("line")
                    let column: Int? = problem.integer("column")
                    let location = [problem["file"]?.string, line.map { "\($0)" }, column.map { "\($0)" }].compactMap(\.self)
                    try output.writeLine(location.joined(separator: ":").utf8)
                    try output.writeLine("  \(problem["kind"]?.string ?? ""): \(problem["message"]?.string ?? "")".utf8)
                }
            }
            let count: Int = result.integer("count") ?? 0
            if count > shownCount { try output.writeLine("and \(count - shownCount) more".utf8) }
        }
    }

    struct AcceptRemoved: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept-removed",
            abstract: "Delete the documents whose files are missing.",
            discussion: """
                For a database in which more files were removed at once than the server takes for deletions. Make sure that no disk is \
                missing. Their history is kept as for other deletions.
                """
        )

        @OptionGroup var server: DatabaseOptions

        func run() async throws {
            _ = try await server.withConnection { try await $0.call("files.acceptRemoved") { _ in } }
        }
    }
}
