import ArgumentParser
import DocumentModel
import HearthClient

/// `hearth delete`
struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a document.",
        discussion: "Documents below it stay. One that doesn't exist is no error."
    )

    @OptionGroup var server: DatabaseOptions

    @Argument(help: "The document, such as books/hitchhiker.", transform: DocumentPath.argument)
    var path: DocumentPath

    func run() async throws {
        try await server.withConnection { try await $0.delete(path) }
    }
}
