import ArgumentParser
import DocumentModel
import HearthTransport

/// `hearth delete`
struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a document.",
        discussion: "Documents in its subcollections are kept. Deleting a document that doesn't exist is not an error."
    )

    @OptionGroup var server: DatabaseOptions

    @Argument(help: "Document path, such as books/hitchhiker.", transform: DocumentPath.argument)
    var path: DocumentPath

    func run() async throws {
        try await server.withConnection { try await $0.delete(path) }
    }
}
