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
        let path = try members[Self.path]
        let precondition = try path.named { () throws(RPCError) in try members[Self.precondition] }
        write = .delete(path, precondition: precondition?.precondition ?? .none)
    }
}
