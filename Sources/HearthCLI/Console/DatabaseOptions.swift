import ArgumentParser
import DocumentModel
import Foundation
import HearthClient

/// Which database of which server a command talks to.
struct DatabaseOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @Option(
        help: ArgumentHelp(
            "The database: project/database, or its name alone in the server's own project. HEARTH_DATABASE stands in for it.",
            valueName: "name"
        )
    )
    var database: String?

    /// The name that was given, or that of the environment.
    private var name: String? {
        database ?? ProcessInfo.processInfo.environment["HEARTH_DATABASE"].flatMap { $0.utf8.isEmpty ? nil : $0 }
    }

    func validate() throws {
        guard let name else { return }
        do throws(StatusError) {
            _ = try DatabaseID(name, inProject: DatabaseID.standard.project)
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// Runs `body` with a connection to the database.
    func withConnection<Result>(_ body: (HearthConnection) async throws -> Result) async throws -> Result {
        try await server.withConnection(database: name, body)
    }
}
