import ArgumentParser
import DocumentModel
import Foundation
import HearthTransport
import StrictJSON

/// `hearth status`
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a server on one screen.",
        discussion: """
            Begins with what needs attention, and exits with status 1 if there is anything. Needs a key that is not restricted to \
            collections, if the server requires keys. With --ready, asks only whether the server is ready, which needs no key: \
            for health checks of containers.

            Exit status: 0 if all is well, 1 if something needs attention or the server is not ready, 69 if it cannot be reached.
            """
    )

    @OptionGroup var server: ServerOptions

    @Flag(help: "Ask only whether the server is ready.")
    var ready = false

    @Flag(help: "Print a JSON object.")
    var json = false

    /// `EX_UNAVAILABLE`
    private static let unreachable = ExitCode(69)

    func run() async throws {
        do {
            try await server.withConnection { connection in
                if ready {
                    _ = try await connection.contents(at: "/health/ready")
                } else {
                    try await printStatus(connection)
                }
            }
        } catch let error as StatusError where error.code == .unavailable {
            Console.standardError.report(error)
            throw error.hasResponse ? ExitCode.failure : Self.unreachable
        }
    }

    private func printStatus(_ connection: HearthConnection) async throws {
        let information = try await connection.serverInformation()
        let metrics = MetricsText(try await connection.contents(at: "/metrics"))
        let status = ServerStatus(information, metrics, at: Date())
        var output = BufferedOutput.standard()
        if json {
            try output.writeLine(status.json())
        } else {
            for line in status.lines(server: self.server.server) { try output.writeLine(line.utf8) }
        }
        try output.flush()
        if !status.problems.isEmpty { throw ExitCode.failure }
    }
}
