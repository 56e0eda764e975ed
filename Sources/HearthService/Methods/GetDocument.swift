package import DocumentModel
import DocumentStore
package import JSONRPC
package import StrictJSON

/// `documents.get`: one document.
package enum GetDocument: RPCMethod {
    package struct Params: Sendable {
        package var path: DocumentPath
        /// Only these fields; all of them when nil.
        package var mask: [FieldPath]?
        package var point: ReadPoint

        package init(path: DocumentPath, mask: [FieldPath]? = nil, at point: ReadPoint = ReadPoint()) {
            self.path = path
            self.mask = mask
            self.point = point
        }
    }

    private static let path = Parameter<DocumentPath>("path", "The document to read.")
    private static let mask = Parameter<[FieldPath]?>("mask", "Only these fields; all of them when absent.")

    package static let name: UTF8Key = "documents.get"
    package static let summary = "Reads a document."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = [path, mask] + ReadPoint.parameters
    package static let result = ResultDescription("document", .document, "The document.")
    /// Few documents are larger, and many are read at the same time.
    package static let expectedAnswerBytes = 64 << 10
    package static let errors =
        [
            ErrorDescription(status: .notFound, "There is no such document."),
            ErrorDescription(status: .dataLoss, "The document's file is damaged; the error says where."),
            ErrorDescription(status: .unavailable, "The document cannot be read now."),
        ] + .ofReads
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
            "its title only",
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
        Params(path: try arguments[path], mask: try arguments[mask], at: try ReadPoint(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> EncodedDocument {
        let view = try await ReadView(params.point, in: context)
        guard let document = try await view.document(at: params.path) else {
            throw StatusError(.notFound, "There is no document \(params.path.shown).", path: params.path.string)
        }
        return if let mask = params.mask { try document.masked(mask) } else { document }
    }

    package static func write(_ result: EncodedDocument, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}
