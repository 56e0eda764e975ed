import ArgumentParser
import DocumentModel
import HearthTransport
import HearthWire
import StrictJSON
import UTF8Text

/// `hearth list`
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List collections or documents.",
        discussion: """
            Lists the root collections, the documents of a collection, or the subcollections of a document. Prints one path per \
            line, ordered by ID. A path that contains control, invisible or quote characters is quoted and escaped.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Flag(help: "Print documents, as `hearth get` does, instead of paths.")
    var documents = false

    @Flag(help: "Include missing documents: those that don't exist but have subcollections.")
    var missing = false

    @Argument(help: "Collection or document path; the default is the root of the database.", transform: ResourcePath.argument)
    var path: ResourcePath?

    func validate() throws {
        if case .collection = path { return }
        if documents { throw ValidationError("--documents requires a collection path.") }
        if missing { throw ValidationError("--missing requires a collection path.") }
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

    /// Returns the path, quoted and escaped if it contains characters that could break the line or control the terminal.
    private static func line(_ path: String) -> String.UTF8View {
        let excerpt = Excerpt(path, maximumBytes: .max)
        return excerpt.text.utf8.elementsEqual(path.utf8) ? path.utf8 : excerpt.description.utf8
    }
}

extension ListedDocument {
    /// The entry as one line of JSON. A missing document has only a path.
    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.finish()
    }
}
