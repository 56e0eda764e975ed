import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HearthTransport
import HearthWire
import Logging
import StrictJSON
import UTF8Text

/// `hearth promote`
struct PromoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Make a standby a primary, which accepts writes.",
        discussion: """
            Stop the former primary first, or cut it off: nothing keeps it from accepting writes that the new primary will not have. A \
            standby that hears from its primary refuses to be promoted, unless --force is given.

            Without --data, calls a running standby, which restarts; that takes a key with the role admin. With --data, promotes the data \
            folder of a standby that no server has open. Standard error says first how old the last news of the primary is, or afterward \
            which commit of the default database is the last one: what the primary has committed since is missing.

            All databases begin branches of their histories. Watchers go on, unless they have seen commits that this standby has not. The \
            former primary can follow the new one (hearth serve --follow): it sets aside the commits that are missing here.
            """
    )

    @OptionGroup var server: ServerOptions

    @Option(help: ArgumentHelp("Data folder of a standby that no server has open.", valueName: "dir"), completion: .directory)
    var data: String?

    @Flag(help: "Promote the standby though its primary is in operation.")
    var force = false

    /// The time between two questions whether the server has restarted, and the number of questions.
    private static let pollInterval = Duration.milliseconds(200)
    private static let maximumPolls = 300

    func run() async throws {
        if let data {
            let logger = Logger(label: "hearth.promote") { _ in LineLogHandler.standardError }
            try await Promotion.run(inFolder: data, logger: logger)
            let position = try StandbyDataFolder.position(data)
            let time = position?.lastCommitTime.map { " of \($0.rfc3339)" } ?? ""
            Console.standardError.report(
                "The last commit is \(position?.lastSequence ?? .zero)\(time). What the primary has committed since is missing."
            )
        } else {
            try await promoteServer()
        }
        print("promoted")
    }

    private func promoteServer() async throws {
        try await server.withConnection { connection in
            do {
                try await reportAge(connection)
            } catch {
                Console.standardError.report("What this standby may lack is unknown: \(error)")
            }
            _ = try await connection.call("server.promote") { params in
                if force { params.member("force", true) }
            }
            for _ in 0..<Self.maximumPolls {
                try await Task.sleep(for: Self.pollInterval)
                // It does not respond while it restarts.
                if let information = try? await connection.serverInformation(), information.primary == nil { return }
            }
            throw StatusError(.unavailable, "The server was promoted, but does not respond since. See its log.")
        }
    }

    /// Says what the standby may lack, before it is promoted.
    private func reportAge(_ connection: HearthConnection) async throws {
        let information = try await connection.call("server.info") { _ in }
        guard let primary = information[ServerInfoKeys.primary]?.string else { return }
        let age: Double? =
            switch information[ServerInfoKeys.ageSeconds]?.number {
            case .integer(let seconds): Double(seconds)
            case .double(let seconds): seconds
            case .outOfRange, nil: nil
            }
        let name = Excerpt(primary, maximumBytes: 1_000).text
        Console.standardError.report(
            age.map { age in
                "This standby may lack what its primary, \(name), has committed in the last \(String(format: "%.1f", age)) s."
            }
                ?? "This standby has not had all commits of its primary, \(name), at any time since it started: it may lack any number."
        )
    }
}
