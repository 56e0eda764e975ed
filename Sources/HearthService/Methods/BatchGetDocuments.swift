package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `documents.batchGet`: many documents by path.
package enum BatchGetDocuments: RPCMethod {
    package struct Params: Sendable {
        package var paths: [DocumentPath]
        /// Only these fields; all of them when nil.
        package var mask: [FieldPath]?
        package var point: ReadPoint

        package init(paths: [DocumentPath], mask: [FieldPath]? = nil, at point: ReadPoint = ReadPoint()) {
            self.paths = paths
            self.mask = mask
            self.point = point
        }
    }

    private static let paths = Parameter<[DocumentPath]>("paths", "The documents to read, at most 1000.")
    private static let mask = Parameter<[FieldPath]?>("mask", "Only these fields; all of them when absent.")

    package static let name: UTF8Key = "documents.batchGet"
    package static let summary =
        "Reads many documents: each as it is at some moment of the call, or all as of one time or in one transaction."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = [paths, mask] + ReadPoint.parameters
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                "documents",
                .array(of: .oneOf([.document, .missingDocument])),
                "The documents in the order of the paths; {path} alone for one that does not exist."
            )
        ]),
        "The documents."
    )
    package static let expectedAnswerBytes = ServiceLimits().maximumBodyBytes
    package static let errors =
        [
            ErrorDescription(status: .dataLoss, "A document's file is damaged; the error says where."),
            ErrorDescription(status: .unavailable, "The documents cannot be read now."),
        ] + .ofReads
    package static let examples = [
        RPCExample(
            "one that is there and one that is not",
            params: #"{"paths": ["books/mostly-harmless", "books/vogon-poetry"], "mask": ["title"]}"#,
            result: #"""
                {
                    "documents": [
                        {
                            "path": "books/mostly-harmless",
                            "fields": {"title": "Mostly Harmless"},
                            "createTime": "2024-02-29T12:00:00.000000Z",
                            "updateTime": "2024-02-29T12:00:00.000000Z"
                        },
                        {"path": "books/vogon-poetry"}
                    ]
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(paths: try arguments[paths], mask: try arguments[mask], at: try ReadPoint(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> [ListedDocument] {
        let limits = context.server.limits
        guard params.paths.count <= limits.maximumBatchGetCount else {
            throw StatusError(
                .invalidArgument,
                "Expected at most \(limits.maximumBatchGetCount) paths, found \(params.paths.count). Ask in several calls."
            )
        }
        let view = try await ReadView(params.point, in: context)
        var documents: [ListedDocument] = []
        var bytes = 0
        for start in stride(from: 0, to: params.paths.count, by: width) {
            let paths = Array(params.paths[start..<min(start + width, params.paths.count)])
            let entries = await paths.concurrentMap(width: width) { path in
                await Swift.Result { () async throws(StatusError) in try await entry(at: path, params.mask, in: view) }
            }
            for entry in entries {
                let document = try entry.get()
                bytes += document.byteCount
                guard bytes <= limits.maximumBodyBytes else {
                    throw StatusError(
                        .resourceExhausted,
                        "The documents are larger than the \(limits.maximumBodyBytes) bytes of an answer. Ask for fewer at once.",
                        path: document.path.string
                    )
                }
                documents.append(document)
            }
        }
        return documents
    }

    private static func entry(
        at path: DocumentPath,
        _ mask: [FieldPath]?,
        in view: ReadView
    ) async throws(StatusError) -> ListedDocument {
        guard let document = try await view.document(at: path) else { return .missing(path) }
        if let mask { return .document(try document.masked(mask)) }
        return .document(document)
    }

    /// How many documents are read at the same time, each up to its largest size.
    private static let width = 8

    package static func write(_ result: [ListedDocument], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("documents")
        writer.beginArray()
        for document in result {
            document.write(to: &writer)
        }
        writer.endArray()
        writer.endObject()
    }
}
