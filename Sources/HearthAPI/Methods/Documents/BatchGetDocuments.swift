package import DocumentModel
import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.batchGet`: reads documents by path.
package enum BatchGetDocuments: RPCMethod {
    /// The parameters of `documents.batchGet`.
    package struct Params: Sendable {
        package var paths: [DocumentPath]
        /// The fields to return, or `nil` for all.
        package var mask: [FieldPath]?
        package var consistency: ReadConsistency

        package init(paths: [DocumentPath], mask: [FieldPath]? = nil, consistency: ReadConsistency = ReadConsistency()) {
            self.paths = paths
            self.mask = mask
            self.consistency = consistency
        }
    }

    /// The documents, and the time of what they show.
    package struct Result: Sendable {
        /// The documents in the order of the paths; `.missing` for those that don't exist.
        package let documents: [ListedDocument]
        /// The time as of which the documents were read, or, if each was read individually, a time before the reads.
        package let readTime: Timestamp
        /// The epoch of the history that the times belong to.
        package let epoch: String
    }

    private static let paths = Parameter<[DocumentPath]>(GetParameterKeys.paths, "The paths of the documents, at most 1000.")
    private static let mask = Parameter<[FieldPath]?>(GetParameterKeys.mask, "The fields to return. Default: all fields.")

    package static let name: UTF8Key = "documents.batchGet"
    package static let summary =
        "Reads documents by path. Without a readTime or transaction, each document is read individually, at some time during the call."
    package static let requiredPermission = Permission.readDocuments
    package static let parameters: [any ParameterDescription] = [paths, mask] + ReadConsistency.parameters
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                PageKeys.documents,
                .array(of: .oneOf([.document, .missingDocument])),
                "The documents in the order of the paths; only {path} for a document that does not exist."
            ),
            .init(
                QueryResponseKeys.readTime,
                Timestamp.schema,
                "The time as of which the documents were read. Without a readTime or transaction, a lower bound: each entry is as of "
                    + "this time or later."
            ),
            .epoch,
        ]),
        "The documents."
    )
    package static let expectedResponseBytes = ServiceLimits().maximumBodyBytes
    package static let errors =
        [
            ErrorDescription(status: .dataLoss, "A document file is damaged; the error includes the location."),
            ErrorDescription(status: .unavailable, "The documents cannot currently be read."),
        ] + .readErrors
    package static let examples = [
        RPCExample(
            "an existing and a missing document",
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
                    ],
                    "readTime": "2024-02-29T12:00:00.000000Z",
                    "epoch": "e29374f1fe60fe125e13fe28432e8144"
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(paths: try arguments[paths], mask: try arguments[mask], consistency: try ReadConsistency(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> Result {
        let limits = context.server.limits
        guard params.paths.count <= limits.maximumBatchGetCount else {
            throw StatusError(
                .invalidArgument,
                "Expected at most \(limits.maximumBatchGetCount) paths, found \(params.paths.count). Split the call."
            )
        }
        // Also before: the answer of a history that has ended is not taken for one of its successor.
        let epoch = context.store.position.epoch
        let view = try await ReadView(params.consistency, in: context)
        // Taken before the reads, so that none shows an earlier state.
        let readTime = if let time = view.readTime { time } else { try await ReadSnapshot(of: context.store).time }
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
                        "The documents exceed the maximum response size of \(limits.maximumBodyBytes) bytes. Read fewer documents per call.",
                        path: document.path.string
                    )
                }
                documents.append(document)
            }
        }
        return Result(documents: documents, readTime: readTime, epoch: epoch)
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

    /// The number of concurrent reads, each of up to the maximum document size.
    private static let width = 8

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        BatchGetResponse(documents: result.documents, readTime: result.readTime, epoch: result.epoch).write(to: &writer)
    }
}
