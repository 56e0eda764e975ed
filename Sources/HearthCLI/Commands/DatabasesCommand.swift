import ArgumentParser
import HearthClient
import HearthWire
import StrictJSON
import UTF8Text

/// `hearth databases`
struct DatabasesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "databases",
        abstract: "List and delete databases.",
        discussion: """
            A server has a default database and any number of additional ones, each with its own documents, history, streams and \
            transactions. The first write to an additional database creates it.
            """,
        subcommands: [List.self, Delete.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the names of all databases, one per line, the default database first."
        )

        @OptionGroup var server: ServerOptions

        func run() async throws {
            let result = try await server.withConnection { try await $0.call("databases.list") { _ in } }
            var output = BufferedOutput.standard()
            for name in (result[DatabaseKeys.databases]?.elements?.map { $0[DatabaseKeys.name]?.string }) ?? [] {
                guard let name else { continue }
                try output.writeLine(Excerpt(name, maximumBytes: .max).text.utf8)
            }
            try output.flush()
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a database permanently.",
            discussion:
                "Deletes all its documents and its history. Open streams end with NOT_FOUND, and open transactions expire. The default database cannot be deleted."
        )

        @OptionGroup var server: ServerOptions

        @Argument(help: "Database, as PROJECT/DATABASE, or just DATABASE for one in the server's default project.")
        var name: String

        func run() async throws {
            _ = try await server.withConnection { connection in
                try await connection.call("databases.delete") { params in params.member(DatabaseKeys.name, name) }
            }
        }
    }
}
