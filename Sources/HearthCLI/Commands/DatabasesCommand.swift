import ArgumentParser
import DocumentModel
import HearthClient
import StrictJSON

/// `hearth databases`
struct DatabasesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "databases",
        abstract: "List the databases of a server, and delete them.",
        discussion: """
            A server has a default database, and any number beside it, each with documents, history, streams and transactions of its own. \
            One is made by the first write to it: there is nothing to be made first.
            """,
        subcommands: [List.self, Delete.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the name of each database on a line, the default one first."
        )

        @OptionGroup var server: ServerOptions

        func run() async throws {
            let result = try await server.withConnection { try await $0.call("databases.list") { _ in } }
            var output = BufferedOutput.standard()
            for name in (result["databases"]?.elements?.map { $0["name"]?.string }) ?? [] {
                guard let name else { continue }
                try output.writeLine(Excerpt(name, maximumBytes: .max).text.utf8)
            }
            try output.flush()
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a database with all that is in it, for good.",
            discussion:
                "Its streams end with NOT_FOUND, and its open transactions expire. The default one can't be deleted."
        )

        @OptionGroup var server: ServerOptions

        @Argument(help: "The database: project/database, or its name alone in the server's own project.")
        var name: String

        func run() async throws {
            _ = try await server.withConnection { connection in
                try await connection.call("databases.delete") { params in
                    params.key("name")
                    params.string(name)
                }
            }
        }
    }
}
