import ArgumentParser
import DocumentModel
import HearthClient
import StrictJSON

/// `hearth list`
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the collections, or what is in one.",
        discussion: """
            Without PATH the collections at the top; for a collection its documents; for a document the collections below it. \
            Prints a path a line, in the order of the ids. A path with control, invisible or quoting characters is in \
            quotation marks, with these escaped.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Flag(help: "Print whole documents as `hearth get` does, instead of their paths.")
    var documents = false

    @Flag(help: "List documents too that don't exist but have others below them.")
    var missing = false

    @Argument(help: "A collection, such as books, or a document, such as books/hitchhiker.", transform: DataPath.argument)
    var path: DataPath?

    func validate() throws {
        if case .collection = path { return }
        if documents { throw ValidationError("--documents needs a collection.") }
        if missing { throw ValidationError("--missing needs a collection.") }
    }

    func run() async throws {
        try await server.withConnection { connection in
            var output = BufferedOutput.standard()
            switch path {
            case nil: try await listCollections(under: nil, connection, to: &output)
            case .document(let parent): try await listCollections(under: parent, connection, to: &output)
            case .collection(let collection): try await listDocuments(in: collection, connection, to: &output)
            }
            try output.flush()
        }
    }

    private func listCollections(
        under parent: DocumentPath?,
        _ connection: HearthConnection,
        to output: inout BufferedOutput
    ) async throws {
        var pageToken: String?
        var damagedCount = 0
        repeat {
            let page = try await connection.collections(under: parent, pageToken: pageToken)
            for id in page.collections {
                try output.writeLine(Self.line(CollectionPath(parent: parent, id: id).string))
            }
            for error in page.damaged { Console.standardError.report(error) }
            damagedCount += page.damaged.count
            pageToken = page.nextPageToken
        } while pageToken != nil
        try output.flush()
        guard damagedCount == 0 else { throw ExitCode.failure }
    }

    private func listDocuments(
        in collection: CollectionPath,
        _ connection: HearthConnection,
        to output: inout BufferedOutput
    ) async throws {
        var pageToken: String?
        var damagedCount = 0
        repeat {
            let page = try await connection.documents(
                in: collection,
                pageSize: 1_000,
                pageToken: pageToken,
                showMissing: missing
            )
            for entry in page.documents {
                if documents {
                    try output.writeLine(entry.json)
                } else {
                    try output.writeLine(Self.line(entry.path.string))
                }
            }
            for error in page.damaged { Console.standardError.report(error) }
            damagedCount += page.damaged.count
            pageToken = page.nextPageToken
        } while pageToken != nil
        try output.flush()
        guard damagedCount == 0 else { throw ExitCode.failure }
    }

    /// A path as it is, or escaped where it could move the cursor or break the line.
    private static func line(_ path: String) -> String.UTF8View {
        let excerpt = Excerpt(path, maximumBytes: .max)
        return excerpt.text.utf8.elementsEqual(path.utf8) ? path.utf8 : excerpt.description.utf8
    }
}

extension ListedDocument {
    /// The entry in one line: a document whole, a missing one as its path alone.
    fileprivate var json: [UInt8] {
        switch self {
        case .document(let document): return document.json
        case .missing(let path):
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("path")
            writer.string(path.string)
            writer.endObject()
            return writer.finish()
        }
    }
}
