import ArgumentParser
import HearthTransport
import HearthWire
import StrictJSON
import UTF8Text

/// `hearth databases`
struct DatabasesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "databases",
        abstract: "List, create, limit and delete databases.",
        discussion: """
            A server has a default database and any number of additional ones, each with its own documents, history, streams and \
            transactions. The first write to an additional database creates it.
            """,
        subcommands: [List.self, Create.self, Quota.self, Delete.self],
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

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an empty database.",
            discussion: "The first write to a database creates it, too. Fails with ALREADY_EXISTS if it exists."
        )

        @OptionGroup var server: ServerOptions

        @Argument(help: "Database, as PROJECT/DATABASE, or just DATABASE for one in the server's default project.")
        var name: String

        func run() async throws {
            _ = try await server.withConnection { connection in
                try await connection.call("databases.create") { params in params.member(DatabaseKeys.name, name) }
            }
        }
    }

    struct Quota: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print or change the quota of a database.",
            discussion: """
                Commits that would exceed the quota fail with RESOURCE_EXHAUSTED; those that delete documents or make them smaller \
                always pass. Prints what the database holds of each limit. A limit that is not given stays as it is.
                """
        )

        @OptionGroup var server: DatabaseOptions

        @Option(help: ArgumentHelp("Maximum number of documents.", valueName: "count"))
        var documents: Int?

        @Option(
            help: ArgumentHelp("Maximum total size of the documents, by Firestore's storage size formula.", valueName: "bytes")
        )
        var bytes: Int?

        @Flag(help: "Remove both limits.")
        var none = false

        func validate() throws {
            for (option, limit) in [("documents", documents), ("bytes", bytes)] {
                if let limit, limit < 0 { throw ValidationError("--\(option) must not be negative.") }
            }
            if none, documents != nil || bytes != nil {
                throw ValidationError("--none removes both limits: it cannot be given with --documents or --bytes.")
            }
        }

        func run() async throws {
            try await server.withConnection { connection in
                var quota = try await connection.call("databases.getQuota") { _ in }
                if none || documents != nil || bytes != nil {
                    let documentCount: Int? = none ? nil : documents ?? quota.integer(SizeKeys.documentCount)
                    let byteCount: Int? = none ? nil : bytes ?? quota.integer(SizeKeys.bytes)
                    quota = try await connection.call("databases.setQuota") { params in
                        if let documentCount { params.member(SizeKeys.documentCount, documentCount) }
                        if let byteCount { params.member(SizeKeys.bytes, byteCount) }
                    }
                }
                let size = try await connection.call("collections.size") { _ in }
                var output = BufferedOutput.standard()
                for (name, key) in [("documents", SizeKeys.documentCount), ("bytes", SizeKeys.bytes)] {
                    let used: Int = size.integer(key) ?? 0
                    let limit: Int? = quota.integer(key)
                    try output.writeLine("\(name): \(used) of \(limit.map(String.init) ?? "any number")".utf8)
                }
                try output.flush()
            }
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
