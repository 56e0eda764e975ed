package import DocumentModel
import DocumentStore
package import JSONRPC
package import UTF8Text

/// `files.acceptRemoved`: takes missing files for deletions, however many they are.
package enum AcceptRemovedFiles: RPCMethod {
    package static let name: UTF8Key = "files.acceptRemoved"
    package static let summary = """
        Deletes the documents whose files are missing, after more files were removed at once than are taken for deletions. Returns at \
        once; the commits follow.
        """
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription("result", .object([]), "An empty object.")
    package static let errors = [
        ErrorDescription(status: .failedPrecondition, "The server does not make commits of edits of files, or is a standby.")
    ]
    package static let examples = [RPCExample("files that were removed on purpose", params: "{}", result: "{}")]

    package static func params(from arguments: Arguments) throws {}

    package static func call(_ params: Void, in context: ServiceContext) async throws(StatusError) {
        try context.caller.requireAccessToDatabase()
        guard let files = try context.store.localFiles else {
            throw StatusError(.failedPrecondition, "The database has no files on this machine.")
        }
        try await context.audited(.acceptRemovedFiles) { () async throws(StatusError) in try await files.acceptRemovedFiles() }
    }
}
