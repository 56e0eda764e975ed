package import DocumentModel
package import JSONRPC
package import StrictJSON

/// `documents.set`: replaces a document or merges into it.
package enum SetDocument: RPCMethod {
    package static let name: UTF8Key = "documents.set"
    package static let summary = "Writes a whole document, or merges fields into it; makes it when it does not exist."
    package static let right = Role.writer
    package static let parameters = SetWrite.members
    package static let result = ResultDescription("result", .writeResult, "What came of the write.")
    package static let errors = [ErrorDescription].ofWrites
    package static let examples = [
        RPCExample(
            "a document with every kind of value",
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
            "in another database, which is made by it",
            params: #"{"path": "books/hitchhiker", "fields": {"title": "A draft"}, "database": "tests"}"#,
            result: #"{"updateTime": "2024-02-29T12:00:00.000000Z"}"#
        ),
        RPCExample(
            "merge one field and count",
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
