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
        let fields = try members[Self.fields]?.values ?? []
        let delete = try members[Self.delete] ?? []
        let transforms = try members[Self.transforms] ?? []
        let precondition = try members[Self.precondition]
        write = try ParameterLocation.params.model { () throws(StatusError) in
            try .update(
                path,
                fields,
                delete: delete,
                transforms: transforms.map(\.transform),
                precondition: precondition?.precondition ?? .exists(true)
            )
        }
    }
}

/// The `fields` of an update: values by field path.
struct FieldUpdates: ParameterValue {
    let values: [(FieldPath, Value)]

    static var schema: JSONSchema {
        .component("FieldUpdates", of: Self.self) {
            .map(of: Value.schema).described("Values by field path: \"a.b\" is the field b of the map a.")
        }
    }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let members = json.members else { throw location.expected("an object", got: json) }
        var values: [(FieldPath, Value)] = []
        for (key, json) in members {
            let member = ParameterLocation.member(key, of: location)
            values.append(try member.model { () throws(StatusError) in try Self.update(of: key, to: json) })
        }
        self.values = values
    }

    private static func update(of key: UTF8Key, to json: JSONNode) throws(StatusError) -> (FieldPath, Value) {
        let path = try FieldPath(key.string)
        do throws(StatusError) {
            return (path, try Value(json: json))
        } catch {
            throw path.segments.reversed().reduce(error) { error, segment in error.inside(field: segment) }
        }
    }
}
