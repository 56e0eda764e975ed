import ArgumentParser
import DocumentModel
import HearthTransport
import StrictJSON

/// `hearth get`
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a document.",
        discussion: """
            Prints one line of JSON with path, fields, createTime and updateTime. Fails if the document doesn't exist.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Argument(help: "Document path, such as books/hitchhiker.", transform: DocumentPath.argument)
    var path: DocumentPath

    func run() async throws {
        let document = try await server.withConnection { try await $0.document(at: path) }
        var output = BufferedOutput.standard()
        try output.writeLine(document.json)
        try output.flush()
    }
}

extension EncodedDocument {
    /// The document as one line of JSON: path, fields, create time and update time.
    var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: fieldsJSON.count + 256)
        write(to: &writer)
        return writer.finish()
    }
}
