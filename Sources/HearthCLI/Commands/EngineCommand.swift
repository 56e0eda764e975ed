import ArgumentParser
import DocumentModel
import Foundation
import Logging
import PostgresStore

/// `hearth engine`
struct EngineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "engine",
        abstract: "Preview: prepare an engine in which servers store databases.",
        discussion: "An engine speaks the protocol of PostgreSQL; see hearth serve --engine.",
        subcommands: [Migrate.self]
    )

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make Hearth's tables, or bring them to the version of this program.",
            discussion: """
                The user needs the right to create a schema in the engine's database. A server that finds no tables, or those of an older \
                release, does that itself, if its user may. Existing documents are indexed before the command ends. Servers of an older \
                release that cannot use the new tables make no commits afterward. Make a backup of the engine before.
                """
        )

        @Option(help: ArgumentHelp("URL of the engine, without a password; by default that in HEARTH_ENGINE.", valueName: "url"))
        var engine: String?

        func run() async throws {
            guard let url = engine ?? ProcessInfo.processInfo.environment["HEARTH_ENGINE"], !url.isEmpty else {
                throw ValidationError("Name the engine with --engine or HEARTH_ENGINE.")
            }
            let logger = Logger(label: "hearth.engine") { _ in LineLogHandler.standardError }
            let (old, new) = try await PostgresHost.migrate(PostgresConfiguration(EngineAddress(url)), logger: logger)
            print(old == new ? "The tables have version \(new)." : "The tables had version \(old), and have version \(new) now.")
        }
    }
}
