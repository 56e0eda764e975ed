import DocumentModel
import JSONRPC
import StrictJSON

/// A write that deletes a document: the parameters of `documents.delete`, and `{delete: …}` in a commit.
struct DeleteWrite: ObjectParameter {
    let write: Write

    static let schemaName = "DeleteWrite"
    static let path = Parameter<DocumentPath>("path", "The document to delete; its subcollections stay.")
    static let precondition = Parameter<PreconditionParameter?>("precondition", "What must hold for the write to be applied.")
    static let members: [any ParameterDescription] = [path, precondition]

    init(from members: Arguments) throws(RPCError) {
        write = .delete(try members[Self.path], precondition: try members[Self.precondition]?.precondition ?? .none)
    }
}
