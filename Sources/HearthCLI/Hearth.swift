import ArgumentParser
import DocumentModel
import Foundation
import HearthAPI

/// The `hearth` command.
///
/// Exit status: 0 success, 1 failure, 64 invalid command line. Results are written to standard output; errors, notes and
/// progress to standard error.
@main
struct Hearth: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth",
        abstract: "A self-hosted document database that stores plain JSON files, with a JSON-RPC API and change streams.",
        discussion: """
            Client commands connect to the server given by --server or HEARTH_SERVER (default: http://127.0.0.1:8080), and \
            authenticate with the API key given by --key, --key-file or HEARTH_KEY.

            Exit status: 0 success, 1 failure, 64 invalid command line.
            """,
        version: "hearth \(ServerDescription.version)",
        groupedSubcommands: [
            CommandGroup(
                name: "Server",
                subcommands: [
                    ServeCommand.self, KeysCommand.self, CheckCommand.self, IndexesCommand.self, RulesCommand.self,
                    DatabasesCommand.self, BackupCommand.self, RestoreCommand.self,
                ]
            ),
            CommandGroup(
                name: "Document",
                subcommands: [
                    GetCommand.self, SetCommand.self, DeleteCommand.self, ListCommand.self, QueryCommand.self, WatchCommand.self,
                ]
            ),
            CommandGroup(name: "Import and export", subcommands: [ImportCommand.self, ExportCommand.self, ExampleCommand.self]),
        ]
    )

    static let _errorPrefix = "hearth: "

    static func main() async {
        do {
            try CommandLine.validateEncoding()
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
