package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.update`: changes fields of an existing document.
package enum UpdateDocument: RPCMethod {
    package static let name: UTF8Key = "documents.update"
    package static let summary = "Changes fields of an existing document by field path, and keeps all others."
    package static let requiredPermission = Permission.writeDocuments
    package static let parameters = UpdateWrite.members
    package static let result = ResultDescription("result", .writeResult, "The result of the write.")
    package static let errors = [ErrorDescription].writeErrors
    package static let examples = [
        RPCExample(
            "set a nested field, delete another",
            params: #"{"path": "books/hitchhiker", "fields": {"series.part": 1}, "delete": ["lastRead"]}"#,
            result: #"{"updateTime": "2024-02-29T12:00:00.000000Z"}"#
        ),
        RPCExample(
            "add a tag",
            params: #"{"path": "books/hitchhiker", "transforms": [{"field": "tags", "arrayUnion": ["fun"]}]}"#,
            result: #"{"updateTime": "2024-02-29T12:00:00.000000Z", "transformResults": [null]}"#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Write {
        try UpdateWrite(from: arguments).write
    }

    package static func call(_ params: Write, in context: ServiceContext) async throws(StatusError) -> WriteResult {
        try await context.apply(params)
    }

    package static func write(_ result: WriteResult, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}

/// The parameters of `documents.update`, and of `{update: …}` in a commit.
struct UpdateWrite: ObjectParameter {
    let write: Write

    static let schemaName = "UpdateWrite"
    static let path = Parameter<DocumentPath>(WriteKeys.path, "The document to change.")
    static let fields = Parameter<FieldUpdates?>(WriteKeys.fields, "The new values by field path. Other fields are kept.")
    static let delete = Parameter<[FieldPath]?>(WriteKeys.delete, "The fields to delete.")
    static let transforms = Parameter<[TransformParameter]?>(
        WriteKeys.transforms,
        "Transforms that the server applies after the fields."
    )
    static let precondition = Parameter<PreconditionParameter?>(
        WriteKeys.precondition,
        "The condition under which the write is applied. Default: the document exists."
    )
    static let members: [any ParameterDescription] = [path, fields, delete, transforms, precondition]

    init(from members: Arguments) throws(RPCError) {
        let path = try members[Self.path]
        write = try path.attachingToErrors { () throws(RPCError) in
            let fields = try members[Self.fields]?.values ?? []
            let delete = try members.fields(Self.delete) ?? []
            let transforms = try members.transforms(Self.transforms, of: path)
            let precondition = try members[Self.precondition]
            return try members.location.locatingErrors { () throws(StatusError) in
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

/// The `fields` parameter of an update: values by field path.
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
            let field = try member.locatingErrors { () throws(StatusError) in try FieldPath(key.string) }
            values.append((field, try FieldArgument(json: json, at: member).value(of: field)))
        }
        self.values = values
    }
}
