package import DocumentModel
import HearthWire
package import JSONRPC
package import UTF8Text

/// `documents.delete`: deletes a document.
package enum DeleteDocument: RPCMethod {
    package static let name: UTF8Key = "documents.delete"
    package static let summary = "Deletes a document, whether or not it exists. Its subcollections are kept."
    package static let requiredPermission = Permission.writeDocuments
    package static let parameters = DeleteWrite.members
    package static let result = ResultDescription("nothing", .object([]), "An empty object.")
    package static let errors = [ErrorDescription].writeErrors
    package static let examples = [
        RPCExample("a book", params: #"{"path": "books/salmon"}"#, result: "{}"),
        RPCExample(
            "only if it exists",
            params: #"{"path": "books/restaurant", "precondition": {"exists": true}}"#,
            result: "{}"
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Write {
        try DeleteWrite(from: arguments).write
    }

    package static func call(_ params: Write, in context: ServiceContext) async throws(StatusError) {
        _ = try await context.apply(params)
    }
}

/// The parameters of `documents.delete`, and of `{delete: …}` in a commit.
struct DeleteWrite: ObjectParameter {
    let write: Write

    static let schemaName = "DeleteWrite"
    static let path = Parameter<DocumentPath>(WriteKeys.path, "The document to delete. Its subcollections are kept.")
    static let precondition = Parameter<PreconditionParameter?>(
        WriteKeys.precondition,
        "The condition under which the write is applied."
    )
    static let members: [any ParameterDescription] = [path, precondition]

    init(from members: Arguments) throws(RPCError) {
        let path = try members[Self.path]
        let precondition = try path.attachingToErrors { () throws(RPCError) in try members[Self.precondition] }
        write = .delete(path, precondition: precondition?.precondition ?? .none)
    }
}
