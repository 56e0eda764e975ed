import ArgumentParser
import DocumentModel
import HearthClient
import StrictJSON

/// `hearth indexes`
struct IndexesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indexes",
        abstract: "List, make and remove indexes of several fields, and exempt fields from being indexed.",
        discussion: """
            Every field is indexed by itself. An index of several fields makes queries faster that have equalities on its first fields \
            and the order of its others; no query needs one. A field that is exempted is not indexed: commits cost less, and \
            queries that need it fail.
            """,
        subcommands: [List.self, Create.self, Delete.self, Exempt.self, Unexempt.self],
        defaultSubcommand: List.self
    )

    /// Where an index or an exemption holds.
    private static let collectionHelp = ArgumentHelp("The ID of the collections, such as books.", valueName: "collection")

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List what is indexed beside single fields, and what isn't.")

        @OptionGroup var server: DatabaseOptions

        func run() async throws {
            try await IndexesCommand.show(server.withConnection { try await $0.indexes() })
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an index of several fields.",
            discussion: "A field is a path, with :desc behind it where its greatest values come first: author numberOfPages:desc"
        )

        @OptionGroup var server: DatabaseOptions
        @Argument(help: collectionHelp) var collection: String
        @Argument(help: "The fields, in order; two or more.") var fields: [String]

        func run() async throws {
            let result = try await server.withConnection { connection in
                try await connection.indexes("indexes.create") { writer in
                    writer.key("collection")
                    writer.string(collection)
                    writer.key("fields")
                    writer.beginArray()
                    for field in fields { writer.indexField(field) }
                    writer.endArray()
                }
            }
            try IndexesCommand.show(result)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove an index of several fields.")

        @OptionGroup var server: DatabaseOptions
        @Argument(help: "The index's ID, as `hearth indexes list` prints it.") var id: String

        func run() async throws {
            let result = try await server.withConnection { connection in
                try await connection.indexes("indexes.delete") { writer in
                    writer.key("id")
                    writer.string(id)
                }
            }
            try IndexesCommand.show(result)
        }
    }

    struct Exempt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End indexing a field, and all that is in it.")

        @OptionGroup var server: DatabaseOptions
        @Argument(help: collectionHelp) var collection: String
        @Argument(help: "The field's path.") var field: String

        func run() async throws {
            try await IndexesCommand.change("indexes.exempt", collection, field, server)
        }
    }

    struct Unexempt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Index a field again that was exempted.")

        @OptionGroup var server: DatabaseOptions
        @Argument(help: collectionHelp) var collection: String
        @Argument(help: "The field's path.") var field: String

        func run() async throws {
            try await IndexesCommand.change("indexes.unexempt", collection, field, server)
        }
    }
}

extension IndexesCommand {
    private static func change(
        _ method: UTF8Key,
        _ collection: String,
        _ field: String,
        _ server: DatabaseOptions
    ) async throws {
        let result = try await server.withConnection { connection in
            try await connection.indexes(method) { writer in
                writer.key("collection")
                writer.string(collection)
                writer.key("field")
                writer.string(field)
            }
        }
        try show(result)
    }

    /// Prints a line for each index and exemption.
    private static func show(_ result: JSONNode) throws {
        var output = BufferedOutput.standard()
        for member in ["indexes", "exemptions"] as [UTF8Key] {
            guard let elements = result[member]?.elements else { continue }
            for element in elements { try output.writeLine(element.rawBytes) }
        }
        try output.flush()
    }
}

extension JSONWriter {
    /// Writes a field as an argument names it: its path, and perhaps a direction behind a colon.
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
