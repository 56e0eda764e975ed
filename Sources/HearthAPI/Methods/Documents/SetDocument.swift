package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.set`: replaces a document or merges fields into it.
package enum SetDocument: RPCMethod {
    package static let name: UTF8Key = "documents.set"
    package static let summary = "Replaces a document, or merges fields into it. Creates the document if it does not exist."
    package static let requiredPermission = Permission.writeDocuments
    package static let parameters = SetWrite.members
    package static let result = ResultDescription("result", .writeResult, "The result of the write.")
    package static let errors = [ErrorDescription].writeErrors
    package static let examples = [
        RPCExample(
            "a document with values of all types",
            params: #"""
                {
                    "path": "samples/values",
                    "fields": {
                        "null": null,
                        "boolean": true,
                        "integer": 9223372036854775807,
                        "double": 1.0,
                        "notANumber": {"$double": "NaN"},
                        "string": "don't panic",
                        "timestamp": {"$timestamp": "1843-01-01T00:00:00Z"},
                        "bytes": {"$bytes": "3q2+7w=="},
                        "reference": {"$reference": "books/hitchhiker"},
                        "place": {"$geoPoint": {"latitude": 53.553986, "longitude": 9.9856482}},
                        "array": [1, "two", {"three": 3}],
                        "vector": {"$vector": [0.1, 0.2]},
                        "map": {"a": {"b": "c"}},
                        "dollars": {"$map": {"$price": 42}}
                    }
                }
                """#,
            result: #"{"updateTime": "2024-02-29T12:00:00.000000Z"}"#
        ),
        RPCExample(
            "in another database, which the write creates",
            params: #"{"path": "books/hitchhiker", "fields": {"title": "A draft"}, "database": "tests"}"#,
            result: #"{"updateTime": "2024-02-29T12:00:00.000000Z"}"#
        ),
        RPCExample(
            "merge a field and increment a counter",
            params: #"""
                {
                    "path": "books/hitchhiker",
                    "fields": {"read": true},
                    "merge": true,
                    "transforms": [{"field": "readers", "increment": 1}, {"field": "lastRead", "serverTimestamp": true}]
                }
                """#,
            result: #"""
                {
                    "updateTime": "2024-02-29T12:00:00.000000Z",
                    "transformResults": [1, {"$timestamp": "2024-02-29T12:00:00.000000Z"}]
                }
                """#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Write {
        try SetWrite(from: arguments).write
    }

    package static func call(_ params: Write, in context: ServiceContext) async throws(StatusError) -> WriteResult {
        try await context.apply(params)
    }

    package static func write(_ result: WriteResult, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}

/// The parameters of `documents.set`, and of `{set: …}` in a commit.
struct SetWrite: ObjectParameter {
    let write: Write

    static let schemaName = "SetWrite"
    static let path = Parameter<DocumentPath>(WriteKeys.path, "The document to write. It is created if it does not exist.")
    static let fields = Parameter<MapValue>(WriteKeys.fields, "The fields of the document.")
    static let merge = Parameter<Bool?>(
        WriteKeys.merge,
        "Whether to replace only the given fields, at every level of nesting, and keep all others."
    )
    static let mergeFields = Parameter<[FieldPath]?>(
        WriteKeys.mergeFields,
        "Replaces only these fields and keeps all others. Each must be in `fields`, `delete` or `transforms`: a missing field is "
            + "an error, not a deletion. Other fields in `fields` and `delete` are ignored."
    )
    static let delete = Parameter<[FieldPath]?>(
        WriteKeys.delete,
        "The fields to delete in a merge, like FieldValue.delete() in Firestore's client libraries."
    )
    static let transforms = Parameter<[TransformParameter]?>(
        WriteKeys.transforms,
        "Transforms that the server applies after the fields."
    )
    static let precondition = Parameter<PreconditionParameter?>(
        WriteKeys.precondition,
        "The condition under which the write is applied."
    )
    static let members: [any ParameterDescription] = [path, fields, merge, mergeFields, transforms, precondition, delete]

    init(from members: Arguments) throws(RPCError) {
        let path = try members[Self.path]
        write = try path.attachingToErrors { () throws(RPCError) in try Self.write(of: path, from: members) }
    }

    private static func write(of path: DocumentPath, from members: Arguments) throws(RPCError) -> Write {
        let fields = try members[Self.fields]
        let merge = try merge(from: members)
        try members.location(of: Self.fields).locatingErrors { () throws(StatusError) in
            // Without a merge, the fields are the complete document.
            if merge == .none { try Document.validate(fields, at: path) } else { try fields.validate() }
        }
        let delete = try members.fields(Self.delete) ?? []
        let transforms = try members.transforms(Self.transforms, of: path)
        let precondition = try members[Self.precondition]
        return try members.location.locatingErrors { () throws(StatusError) in
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
