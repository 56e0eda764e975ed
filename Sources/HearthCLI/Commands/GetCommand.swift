import ArgumentParser
import DocumentModel
import HearthClient
import StrictJSON

/// `hearth get`
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a document.",
        discussion: """
            One line of JSON: path, fields, createTime and updateTime. A document that doesn't exist is an error.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Argument(help: "The document, such as books/hitchhiker.", transform: DocumentPath.argument)
    var path: DocumentPath

    func run() async throws {
        let document = try await server.withConnection { try await $0.document(at: path) }
        var output = BufferedOutput.standard()
        try output.writeLine(document.json)
        try output.flush()
    }
}

extension EncodedDocument {
    /// The document with its path and times, in one line.
    var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: fieldsJSON.count + 256)
        write(to: &writer)
        return writer.finish()
    }
}
