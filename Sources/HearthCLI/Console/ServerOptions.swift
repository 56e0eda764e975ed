import ArgumentParser
import DocumentModel
import Foundation
import HearthClient

/// Which server a command talks to.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server's address. HEARTH_SERVER stands in for it.", valueName: "url"))
    var server: String = ProcessInfo.processInfo.environment["HEARTH_SERVER"] ?? "http://127.0.0.1:8080"

    @Option(help: "The key to show to the server. HEARTH_KEY stands in for it, and keeps it out of the list of processes.")
    var key: String?

    func validate() throws {
        do {
            _ = try ServerAddress(server)
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// Runs `body` with a connection to the server.
    func withConnection<Result>(_ body: (HearthConnection) async throws -> Result) async throws -> Result {
        let key = key ?? ProcessInfo.processInfo.environment["HEARTH_KEY"]
        return try await HearthConnection.withConnection(to: ServerAddress(server), key: key, body)
    }
}
