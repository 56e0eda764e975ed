import ArgumentParser
import DocumentModel
import Foundation
import HearthAPI
import StorageIO

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
                    ServeCommand.self, PromoteCommand.self, KeysCommand.self, CheckCommand.self, FilesCommand.self,
                    IndexesCommand.self,
                    RulesCommand.self,
                    ConfigCommand.self, StatusCommand.self, DoctorCommand.self, BenchCommand.self, DatabasesCommand.self,
                    BackupCommand.self,
                    RestoreCommand.self, AuditCommand.self, EngineCommand.self,
                ]
            ),
            CommandGroup(
                name: "Document",
                subcommands: [
                    GetCommand.self, SetCommand.self, DeleteCommand.self, ListCommand.self, QueryCommand.self, WatchCommand.self,
                ]
            ),
            CommandGroup(
                name: "Import and export",
                subcommands: [ImportCommand.self, ExportCommand.self, ExampleCommand.self, GitCommand.self]
            ),
        ]
    )

    static let _errorPrefix = "hearth: "

    static func main() async {
        StandardStreams.openMissing()
        GroupAccess.none.apply()
        var configuration: ServeConfiguration?
        do {
            try CommandLine.validateEncoding()
            var arguments = Array(CommandLine.arguments.dropFirst())
            // Before parsing, which rejects options without others that they require.
            if let count = ServeConfiguration.commandLength(in: arguments) {
                let found = try ServeConfiguration(ofCommandWithLength: count)
                configuration = found
                arguments = arguments[..<count] + found.arguments
            }
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as StatusError {
            Console.standardError.report(error)
            for line in configuration?.locations(ofOptionsIn: error.message) ?? [] { Console.standardError.report(line) }
            Foundation.exit(ExitCode.failure.rawValue)
        } catch {
            if !exitCode(for: error).isSuccess {
                for line in configuration?.locations(ofOptionsIn: message(for: error)) ?? [] {
                    Console.standardError.report(line)
                }
            }
            exit(withError: error)
        }
    }
}
