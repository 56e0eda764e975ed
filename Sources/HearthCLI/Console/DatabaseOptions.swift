import ArgumentParser
import DocumentModel
import Foundation
import HearthTransport

/// Options that select a server and a database.
struct DatabaseOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @Option(
        help: ArgumentHelp(
            "Database, as PROJECT/DATABASE, or just DATABASE for one in the server's default project. The default is HEARTH_DATABASE, or the default database.",
            valueName: "name"
        )
    )
    var database: String?

    /// The database name given by the option or the environment.
    private var name: String? {
        database ?? ProcessInfo.processInfo.environment["HEARTH_DATABASE"].flatMap { $0.utf8.isEmpty ? nil : $0 }
    }

    /// The additional database; `nil` for the default one. Without a project, it is in the standard one.
    var databaseID: DatabaseID? {
        get throws(StatusError) {
            let id = try name.map { name throws(StatusError) in try DatabaseID(name, inProject: DatabaseID.standard.project) }
            return id == .standard ? nil : id
        }
    }

    func validate() throws {
        do throws(StatusError) {
            _ = try databaseID
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// Calls `body` with a connection to the database, whose calls wait when the server refuses them for a time.
    func withConnectionOfLongWork<Result>(_ body: (HearthConnection) async throws -> Result) async throws -> Result {
        try await HearthConnection.$repeatsRefusedCalls.withValue(true) { try await withConnection(body) }
    }

    /// Calls `body` with a connection to the database.
    func withConnection<Result>(_ body: (HearthConnection) async throws -> Result) async throws -> Result {
        try await server.withConnection(database: name, body)
    }
}
