package import DocumentModel
import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.get`: reads a document.
package enum GetDocument: RPCMethod {
    /// The parameters of `documents.get`.
    package struct Params: Sendable {
        package var path: DocumentPath
        /// The fields to return, or `nil` for all.
        package var mask: [FieldPath]?
        package var consistency: ReadConsistency

        package init(path: DocumentPath, mask: [FieldPath]? = nil, consistency: ReadConsistency = ReadConsistency()) {
            self.path = path
            self.mask = mask
            self.consistency = consistency
        }
    }

    private static let path = Parameter<DocumentPath>(GetParameterKeys.path, "The document to read.")
    private static let mask = Parameter<[FieldPath]?>(GetParameterKeys.mask, "The fields to return. Default: all fields.")

    package static let name: UTF8Key = "documents.get"
    package static let summary = "Reads a document."
    package static let requiredPermission = Permission.readDocuments
    package static let parameters: [any ParameterDescription] = [path, mask] + ReadConsistency.parameters
    package static let result = ResultDescription("document", .document, "The document.")
    /// Few documents are larger, and many calls run concurrently.
    package static let expectedResponseBytes = 64 << 10
    package static let errors =
        [
            ErrorDescription(status: .notFound, "The document does not exist."),
            ErrorDescription(status: .dataLoss, "The document file is damaged; the error includes the location."),
            ErrorDescription(status: .unavailable, "The document cannot currently be read."),
        ] + .readErrors
    package static let examples = [
        RPCExample(
            "a book",
            params: #"{"path": "books/hitchhiker"}"#,
            result: #"""
                {
                    "path": "books/hitchhiker",
                    "fields": {"author": "Douglas Adams", "numberOfPages": 816, "title": "The Hitchhiker's Guide to the Galaxy"},
                    "createTime": "2024-02-29T12:00:00.000000Z",
                    "updateTime": "2024-02-29T12:00:00.000000Z"
                }
                """#
        ),
        RPCExample(
            "only its title",
            params: #"{"path": "books/hitchhiker", "mask": ["title"]}"#,
            result: #"""
                {
                    "path": "books/hitchhiker",
                    "fields": {"title": "The Hitchhiker's Guide to the Galaxy"},
                    "createTime": "2024-02-29T12:00:00.000000Z",
                    "updateTime": "2024-02-29T12:00:00.000000Z"
                }
                """#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(path: try arguments[path], mask: try arguments[mask], consistency: try ReadConsistency(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> EncodedDocument {
        let view = try await ReadView(params.consistency, in: context)
        guard let document = try await view.document(at: params.path) else {
            throw StatusError(.notFound, "Document not found: \(params.path.escapedString)", path: params.path.string)
        }
        return if let mask = params.mask { try document.masked(mask) } else { document }
    }

    package static func write(_ result: EncodedDocument, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}
