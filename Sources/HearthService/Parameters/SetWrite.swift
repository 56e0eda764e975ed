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
        "Replace only these fields, which `fields` must hold, and keep all others."
    )
    static let transforms = Parameter<[TransformParameter]?>("transforms", "Changes that the server computes, after the fields.")
    static let precondition = Parameter<PreconditionParameter?>("precondition", "What must hold for the write to be applied.")
    static let members: [any ParameterDescription] = [path, fields, merge, mergeFields, transforms, precondition]

    init(from members: Arguments) throws(RPCError) {
        let path = try members[Self.path]
        let fields = try members[Self.fields]
        let transforms = try members[Self.transforms] ?? []
        let precondition = try members[Self.precondition]
        let merge: Write.Merge
        switch (try members[Self.merge] ?? false, try members[Self.mergeFields]) {
        case (false, nil): merge = .none
        case (true, nil): merge = .all
        case (false, let fields?): merge = .fields(fields)
        case (true, .some):
            throw .invalidParams(
                at: "\(members.location(of: Self.merge))",
                reason: "expected at most one of merge and mergeFields"
            )
        }
        write = try ParameterLocation.params.model { () throws(StatusError) in
            try .set(
                path,
                fields,
                merge: merge,
                transforms: transforms.map(\.transform),
                precondition: precondition?.precondition ?? .none
            )
        }
    }
}
