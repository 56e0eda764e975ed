import ArgumentParser
import DocumentModel
import HearthClient
import StrictJSON

/// `hearth watch`
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow a document, a collection or the result of a query.",
        discussion: """
            Prints a frame of JSON a line: open, an added for each document there is, current, and from then on each change as \
            it is committed:

              hearth watch books
              hearth watch --group reviews
              hearth watch --query '{"collection": "books", "orderBy": [{"field": "pages", "direction": "desc"}], "limit": 3}'

            Ends with Ctrl-C. When the server stops or the connection breaks, it says so on standard error, tries again until \
            the server is there, and goes on with the first change that it has not printed. Where the server can't go on from \
            there, a reset says that what was printed is void and that the state follows again. It fails when there is no \
            server at the start.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Option(help: ArgumentHelp("The result of a query, as for `hearth query`: JSON, @FILE or -.", valueName: "json"))
    var query: String?

    @Option(help: ArgumentHelp("The documents of all collections with this ID.", valueName: "id"))
    var group: String?

    @Argument(help: "A document, such as books/hitchhiker, or a collection, such as books.", transform: DataPath.argument)
    var path: DataPath?

    func validate() throws {
        guard [path != nil, query != nil, group != nil].count(where: \.self) == 1 else {
            throw ValidationError("Expected exactly one of a path, --query and --group.")
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
            try await Interruption.cancelling {
                try await server.withConnection { connection in
                    var printer = FramePrinter()
                    try await connection.follow(target) { event throws(StatusError) in try printer.take(event) }
                }
            }
        } catch is Interruption {
            // Which is how watching is ended.
        }
    }

    private func target() throws(StatusError) -> WatchTarget {
        if let query { return .query(try QueryArgument(query).read().root) }
        if let group { return .collectionGroup(try CollectionID(group)) }
        switch path {
        case .collection(let path)?: return .collection(path)
        case .document(let path)?: return .document(path)
        case nil: throw StatusError(.invalidArgument, "There is nothing to watch.")
        }
    }
}
