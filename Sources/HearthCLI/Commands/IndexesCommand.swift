import ArgumentParser
import HearthTransport
import StrictJSON
import UTF8Text

/// `hearth indexes`
struct IndexesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indexes",
        abstract: "Manage composite indexes and single-field index exemptions.",
        discussion: """
            Every field has a single-field index. A composite index speeds up queries with equality filters on its leading fields \
            that sort by the remaining ones; no query requires one. Exempting a field removes its single-field index: commits \
            become cheaper, and queries that need the index fail.
            """,
        subcommands: [List.self, Create.self, Delete.self, Exempt.self, Unexempt.self],
        defaultSubcommand: List.self
    )

    private static let collectionHelp = ArgumentHelp("Collection ID, such as books.", valueName: "collection")

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List composite indexes and exemptions.")

        @OptionGroup var server: DatabaseOptions

        func run() async throws {
            try await IndexesCommand.printDefinitions(server.withConnection { try await $0.call("indexes.list") { _ in } })
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a composite index.",
            discussion:
                "A field is a field path, with the suffix :desc for descending order. Example: hearth indexes create books author numberOfPages:desc"
        )

        @OptionGroup var server: DatabaseOptions
        @Argument(help: collectionHelp) var collection: String
        @Argument(help: "Two or more fields, in index order.") var fields: [String]

        func run() async throws {
            let result = try await server.withConnection { connection in
                try await connection.call("indexes.create") { writer in
                    writer.key("collection")
                    writer.string(collection)
                    writer.key("fields")
                    writer.beginArray()
                    for field in fields { writer.indexField(field) }
                    writer.endArray()
                }
            }
            try IndexesCommand.printDefinitions(result)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a composite index.")

        @OptionGroup var server: DatabaseOptions
        @Argument(help: "Index ID, as printed by `hearth indexes list`.") var id: String

        func run() async throws {
            let result = try await server.withConnection { connection in
                try await connection.call("indexes.delete") { writer in
                    writer.key("id")
                    writer.string(id)
                }
            }
            try IndexesCommand.printDefinitions(result)
        }
    }

    struct Exempt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Exempt a field and its subfields from indexing.")

        @OptionGroup var server: DatabaseOptions
        @Argument(help: collectionHelp) var collection: String
        @Argument(help: "Field path.") var field: String

        func run() async throws {
            try await IndexesCommand.changeExemption("indexes.exempt", collection, field, server)
        }
    }

    struct Unexempt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove the exemption of a field and index it again.")

        @OptionGroup var server: DatabaseOptions
        @Argument(help: collectionHelp) var collection: String
        @Argument(help: "Field path.") var field: String

        func run() async throws {
            try await IndexesCommand.changeExemption("indexes.unexempt", collection, field, server)
        }
    }
}

extension IndexesCommand {
    private static func changeExemption(
        _ method: UTF8Key,
        _ collection: String,
        _ field: String,
        _ server: DatabaseOptions
    ) async throws {
        let result = try await server.withConnection { connection in
            try await connection.call(method) { writer in
                writer.key("collection")
                writer.string(collection)
                writer.key("field")
                writer.string(field)
            }
        }
        try printDefinitions(result)
    }

    /// Prints one line per index and exemption.
    private static func printDefinitions(_ result: JSONNode) throws {
        var output = BufferedOutput.standard()
        for member in ["indexes", "exemptions"] as [UTF8Key] {
            guard let elements = result[member]?.elements else { continue }
            for element in elements { try output.writeLine(element.rawBytes) }
        }
        try output.flush()
    }
}

extension JSONWriter {
    /// Writes the field given by a command-line argument: a field path with an optional `:asc` or `:desc` suffix.
    fileprivate mutating func indexField(_ argument: String) {
        let bytes = Array(argument.utf8)
        let direction = [":desc", ":asc"].first { bytes.suffix($0.utf8.count).elementsEqual($0.utf8) }
        beginObject()
        key("field")
        string(String(decoding: bytes.dropLast(direction?.utf8.count ?? 0), as: UTF8.self))
        if let direction {
            key("direction")
            string(String(direction.dropFirst()))
        }
        endObject()
    }
}
