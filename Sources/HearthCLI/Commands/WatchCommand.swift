import ArgumentParser
import DocumentModel
import HearthTransport
import StrictJSON

/// `hearth watch`
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch a document, a collection, a collection group or a query for changes.",
        discussion: """
            Prints one frame of JSON per line: open, one added frame for each existing document, current, and then every change \
            as it is committed. Examples:

              hearth watch books
              hearth watch --group reviews
              hearth watch --query '{"collection": "books", "orderBy": [{"field": "pages", "direction": "desc"}], "limit": 3}'

            Press Ctrl-C to stop. If the connection is lost, reports it on standard error, reconnects and resumes after the last \
            printed change. If the server cannot resume from there, prints a reset frame, which discards the state printed so \
            far, followed by the current state. Fails if the server cannot be reached at startup.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Option(help: ArgumentHelp("Watch the result of a query, as for `hearth query`: JSON, @FILE or -.", valueName: "json"))
    var query: String?

    @Option(help: ArgumentHelp("Watch a collection group: the documents of all collections with this ID.", valueName: "id"))
    var group: String?

    @Argument(help: "Document or collection path, such as books/hitchhiker or books.", transform: ResourcePath.argument)
    var path: ResourcePath?

    func validate() throws {
        guard [path != nil, query != nil, group != nil].count(where: \.self) == 1 else {
            throw ValidationError("Specify exactly one of PATH, --query and --group.")
        }
        if let query { try QueryArgument(query).validate() }
        do throws(StatusError) {
            _ = try group.map { id throws(StatusError) in try CollectionID(id) }
        } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        let target = try target()
        do {
            try await TerminationSignal.cancelOnReceipt {
                try await server.withConnection { connection in
                    var printer = WatchFramePrinter()
                    try await connection.watchContinuously(target) { event throws(StatusError) in try printer.handle(event) }
                }
            }
        } catch is TerminationSignal {
            // Ctrl-C is the normal way to stop watching.
        }
    }

    private func target() throws(StatusError) -> WatchTarget {
        if let query { return .query(try QueryArgument(query).read().root) }
        if let group { return .collectionGroup(try CollectionID(group)) }
        switch path {
        case .collection(let path)?: return .collection(path)
        case .document(let path)?: return .document(path)
        case nil: throw StatusError(.invalidArgument, "The watch target is missing.")
        }
    }
}
