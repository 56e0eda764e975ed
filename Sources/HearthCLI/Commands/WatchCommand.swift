import ArgumentParser
import DocumentModel
import HearthClient

/// `hearth watch`
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow a document or a collection.",
        discussion: """
            Prints a frame of JSON a line: open, an added for each document there is, current, and from then on each change as \
            it is committed. Ends with Ctrl-C, or when the server stops; a stream that breaks is an error.
            """
    )

    @OptionGroup var server: ServerOptions

    @Argument(help: "A document, such as books/hitchhiker, or a collection, such as books.", transform: DataPath.argument)
    var path: DataPath

    func run() async throws {
        do {
            try await Interruption.cancelling {
                try await server.withConnection { try await printFrames(of: $0) }
            }
        } catch is Interruption {
            // Which is how watching is ended.
        }
    }

    private func printFrames(of connection: HearthConnection) async throws(StatusError) {
        var output = BufferedOutput.standard()
        let frames = try await connection.watch(path.watchTarget)
        for try await frame in frames {
            try output.writeLine(frame.line)
            try output.flush()
            if let error = frame.error { throw error }
        }
    }
}

extension DataPath {
    fileprivate var watchTarget: WatchTarget {
        switch self {
        case .collection(let path): .collection(path)
        case .document(let path): .document(path)
        }
    }
}
