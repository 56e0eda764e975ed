import DocumentModel
import JSONRPC
import StrictJSON

/// A write that changes fields of a document that exists: the parameters of `documents.update`, and `{update: …}` in a commit.
struct UpdateWrite: ObjectParameter {
    let write: Write

    static let schemaName = "UpdateWrite"
    static let path = Parameter<DocumentPath>("path", "The document to change.")
    static let fields = Parameter<FieldUpdates?>("fields", "The new values by field path; what is not named stays.")
    static let delete = Parameter<[FieldPath]?>("delete", "The fields to delete.")
    static let transforms = Parameter<[TransformParameter]?>("transforms", "Changes that the server computes, after the fields.")
    static let precondition = Parameter<PreconditionParameter?>(
        "precondition",
        "What must hold for the write to be applied; that the document exists when absent."
    )
    static let members: [any ParameterDescription] = [path, fields, delete, transforms, precondition]

    init(from members: Arguments) throws(RPCError) {
        let path = try members[Self.path]
        write = try path.named { () throws(RPCError) in
            let fields = try members[Self.fields]?.values ?? []
            let delete = try members.fields(Self.delete) ?? []
            let transforms = try members.transforms(Self.transforms, of: path)
            let precondition = try members[Self.precondition]
            return try members.location.model { () throws(StatusError) in
                try .update(
                    path,
                    fields,
                    delete: delete,
                    transforms: transforms,
                    precondition: precondition?.precondition ?? .exists(true)
                )
            }
        }
    }
}
