package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.batchWrite`: applies writes independently of each other.
package enum BatchWrite: RPCMethod {
    /// The result of one write.
    package typealias Outcome = Swift.Result<WriteResult, StatusError>

    private static let writes = Parameter<[WriteParameter]>(
        CommitKeys.writes,
        "The writes, each to a different document. They are applied in no particular order."
    )

    package static let name: UTF8Key = "documents.batchWrite"
    package static let summary =
        "Applies writes independently: some may fail while others succeed. For an atomic commit, use documents.commit."
    package static let requiredPermission = Permission.writeDocuments
    package static let parameters: [any ParameterDescription] = [writes]
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                CommitResponseKeys.writeResults,
                .array(of: .oneOf([.writeResult, .failedWrite])),
                "The result of each write, in the order of the writes; {error} for a failed write."
            )
        ]),
        "The results of the writes."
    )
    package static let errors = [
        ErrorDescription(
            status: .invalidArgument,
            "A path, field path, value or transform is invalid, or two writes are to the same document. Nothing was written."
        )
    ]
    package static let examples = [
        RPCExample(
            "a successful and a failed write",
            params: #"""
                {
                    "writes": [
                        {"set": {"path": "books/so-long", "fields": {"title": "So Long, and Thanks for All the Fish"}}},
                        {"update": {"path": "books/vogon-poetry", "fields": {"part": 6}}}
                    ]
                }
                """#,
            result: #"""
                {
                    "writeResults": [
                        {"updateTime": "2024-02-29T12:00:00.000000Z"},
                        {
                            "error": {
                                "code": 5,
                                "message": "No document to update: books/vogon-poetry",
                                "data": {"status": "NOT_FOUND", "path": "books/vogon-poetry"}
                            }
                        }
                    ]
                }
                """#
        )
    ]

    /// The number of concurrent writes: enough that their files take longer than the disk sync that they share, and few enough
    /// that one call hardly delays others.
    static let width = 32

    package static func params(from arguments: Arguments) throws -> [Write] {
        try arguments[writes].map(\.write)
    }

    package static func call(_ params: [Write], in context: ServiceContext) async throws(StatusError) -> [Outcome] {
        try rejectDuplicates(in: params)
        let outcomes: [Outcome] = await params.concurrentMap(width: width) { write in
            await Outcome(catching: { () async throws(StatusError) in
                guard !Task.isCancelled else {
                    throw StatusError(
                        .cancelled,
                        "The call was cancelled before this write was applied.",
                        path: write.path.string
                    )
                }
                return try await context.apply(write)
            })
        }
        // Internal errors are logged per call, so they fail the call.
        for case .failure(let error) in outcomes where error.code == .internal { throw error }
        return outcomes
    }

    private static func rejectDuplicates(in writes: [Write]) throws(StatusError) {
        var paths: Set<DocumentPath> = []
        for (index, write) in writes.enumerated() where !paths.insert(write.path).inserted {
            throw StatusError(
                .invalidArgument,
                "Expected writes to different documents, found two to \(write.path.escapedString). "
                    + "Use documents.commit for several writes to one document.",
                path: write.path.string
            ).withWriteIndex(index)
        }
    }

    package static func write(_ result: [Outcome], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key(CommitResponseKeys.writeResults)
        writer.beginArray()
        for outcome in result {
            switch outcome {
            case .success(let result):
                result.write(to: &writer)
            case .failure(let error):
                writer.beginObject()
                writer.key("error")
                error.rpcError.write(to: &writer)
                writer.endObject()
            }
        }
        writer.endArray()
        writer.endObject()
    }
}
