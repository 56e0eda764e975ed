package import DocumentModel
package import JSONRPC
package import StrictJSON

/// `documents.delete`: deletes a document.
package enum DeleteDocument: RPCMethod {
    package static let name: UTF8Key = "documents.delete"
    package static let summary = "Deletes a document, whether it exists or not; its subcollections stay."
    package static let right = Role.writer
    package static let parameters = DeleteWrite.members
    package static let result = ResultDescription("nothing", .object([]), "An empty object.")
    package static let errors = [ErrorDescription].ofWrites
    package static let examples = [
        RPCExample("a book", params: #"{"path": "books/salmon"}"#, result: "{}"),
        RPCExample(
            "only when it is there",
            params: #"{"path": "books/restaurant", "precondition": {"exists": true}}"#,
            result: "{}"
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Write {
        try DeleteWrite(from: arguments).write
    }

    package static func call(_ params: Write, in context: ServiceContext) async throws(StatusError) {
        _ = try await context.apply(params)
    }

    package static func write(_ result: Void, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.endObject()
    }
}
