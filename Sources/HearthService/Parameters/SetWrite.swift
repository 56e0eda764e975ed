import DocumentModel
import JSONRPC
import StrictJSON

/// A write that replaces a document or merges into it: the parameters of `documents.set`, and `{set: …}` in a commit.
struct SetWrite: ObjectParameter {
    let write: Write

    static let schemaName = "SetWrite"
    static let path = Parameter<DocumentPath>("path", "The document to write; it is made when it does not exist.")
    static let fields = Parameter<MapValue>("fields", "The document's fields.")
    static let merge = Parameter<Bool?>(
        "merge",
        "true: replace only the fields that are given, at every depth, and keep all others."
    )
    static let mergeFields = Parameter<[FieldPath]?>(
        "mergeFields",
        "Replace only these fields and keep all others. Each must be in `fields`, `delete` or `transforms`: one that is missing "
            + "there is refused, not deleted. What else is in `fields` and `delete` is ignored."
    )
    static let delete = Parameter<[FieldPath]?>(
        "delete",
        "The fields to delete, when merging: what FieldValue.delete() is in the data of Firestore's clients."
    )
    static let transforms = Parameter<[TransformParameter]?>("transforms", "Changes that the server computes, after the fields.")
    static let precondition = Parameter<PreconditionParameter?>("precondition", "What must hold for the write to be applied.")
    static let members: [any ParameterDescription] = [path, fields, merge, mergeFields, transforms, precondition, delete]

    init(from members: Arguments) throws(RPCError) {
        let path = try members[Self.path]
        write = try path.named { () throws(RPCError) in try Self.write(of: path, from: members) }
    }

    private static func write(of path: DocumentPath, from members: Arguments) throws(RPCError) -> Write {
        let fields = try members[Self.fields]
        let merge = try merge(from: members)
        try members.location(of: Self.fields).model { () throws(StatusError) in
            // Only what replaces a document is known to be the whole of it.
            if merge == .none { try Document.validate(fields, at: path) } else { try fields.validate() }
        }
        let delete = try members.fields(Self.delete) ?? []
        let transforms = try members.transforms(Self.transforms, of: path)
        let precondition = try members[Self.precondition]
        return try members.location.model { () throws(StatusError) in
            try .set(
                path,
                fields,
                merge: merge,
                delete: delete,
                transforms: transforms,
                precondition: precondition?.precondition ?? .none
            )
        }
    }

    private static func merge(from members: Arguments) throws(RPCError) -> Write.Merge {
        switch (try members[Self.merge] ?? false, try members.fields(Self.mergeFields)) {
        case (false, nil): .none
        case (true, nil): .all
        case (false, let fields?): .fields(fields)
        case (true, .some):
            throw .invalidParams(
                at: "\(members.location(of: Self.merge))",
                reason: "expected at most one of merge and mergeFields"
            )
        }
    }
}
