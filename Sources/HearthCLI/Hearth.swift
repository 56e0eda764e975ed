import ArgumentParser
import DocumentModel
import Foundation
import HearthService

/// The `hearth` command.
///
/// Exit codes: 0 success, 1 what was asked for failed, 64 the command line can't be understood. Results go to standard
/// output; errors, notes and progress to standard error.
@main
struct Hearth: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth",
        abstract: "A self-hosted document database: plain JSON files, JSON-RPC, and a stream of changes.",
        discussion: """
            Commands that talk to a server find it by --server or HEARTH_SERVER (default http://127.0.0.1:8080) and show the \
            key given by HEARTH_KEY, --key-file or --key.

            Exit codes: 0 success; 1 what was asked for failed; 64 the command line can't be understood.
            """,
        version: "hearth \(ServerDescription.version)",
        groupedSubcommands: [
            CommandGroup(
                name: "Server",
                subcommands: [
                    ServeCommand.self, KeysCommand.self, CheckCommand.self, IndexesCommand.self, DatabasesCommand.self,
                ]
            ),
            CommandGroup(
                name: "Document",
                subcommands: [
                    GetCommand.self, SetCommand.self, DeleteCommand.self, ListCommand.self, QueryCommand.self, WatchCommand.self,
                ]
            ),
            CommandGroup(name: "Bulk", subcommands: [ImportCommand.self, ExportCommand.self, ExampleCommand.self]),
        ]
    )

    static let _errorPrefix = "hearth: "

    static func main() async {
        do {
            try CommandLine.checkEncoding()
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as StatusError {
            Console.standardError.report(error)
            Foundation.exit(ExitCode.failure.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
