package import DocumentModel
package import JSONRPC
package import StrictJSON

/// `documents.update`: changes fields of a document that exists.
package enum UpdateDocument: RPCMethod {
    package static let name: UTF8Key = "documents.update"
    package static let summary = "Changes some fields of a document, by field path, and leaves all others; it must exist."
    package static let right = Role.writer
    package static let parameters = UpdateWrite.members
    package static let result = ResultDescription("result", .writeResult, "What came of the write.")
    package static let errors = [ErrorDescription].ofWrites
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
