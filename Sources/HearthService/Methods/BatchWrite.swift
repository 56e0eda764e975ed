package import DocumentModel
package import JSONRPC
package import StrictJSON

/// `documents.batchWrite`: many writes, each of them for itself.
package enum BatchWrite: RPCMethod {
    /// What came of one of the writes.
    package typealias Outcome = Swift.Result<WriteResult, StatusError>

    private static let writes = Parameter<[WriteParameter]>(
        "writes",
        "The writes, each of another document; they are applied in no particular order."
    )

    package static let name: UTF8Key = "documents.batchWrite"
    package static let summary =
        "Applies many writes, each of them for itself: some may fail while others succeed. documents.commit does all or none."
    package static let right = Role.writer
    package static let parameters: [any ParameterDescription] = [writes]
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                "writeResults",
                .array(of: .oneOf([.writeResult, .failedWrite])),
                "What came of each write, in order of the writes; {error} for one that failed."
            )
        ]),
        "What came of the writes."
    )
    package static let errors = [
        ErrorDescription(
            status: .invalidArgument,
            "A path, field path, value or transform breaks a rule, or two writes are of one document. Nothing was written."
        )
    ]
    package static let examples = [
        RPCExample(
            "one that succeeds and one that does not",
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

    /// How many of the writes are on their way at the same time: enough for the store to bring many of them to disk at once,
    /// and few enough that one call does not hold up all others.
    static let width = 128

    package static func params(from arguments: Arguments) throws -> [Write] {
        try arguments[writes].map(\.write)
    }

    package static func call(_ params: [Write], in context: ServiceContext) async throws(StatusError) -> [Outcome] {
        try refuseRepetition(in: params)
        let outcomes: [Outcome] = await params.concurrentMap(width: width) { write in
            await Outcome(catching: { () async throws(StatusError) in
                guard !Task.isCancelled else {
                    throw StatusError(
                        .cancelled,
                        "The call ended before this write's turn; it was not done.",
                        path: write.path.string
                    )
                }
                return try await context.apply(write)
            })
        }
        // What Hearth itself did wrong belongs to the log, and the call is what the log knows.
        for case .failure(let error) in outcomes where error.code == .internal { throw error }
        return outcomes
    }

    private static func refuseRepetition(in writes: [Write]) throws(StatusError) {
        var paths: Set<DocumentPath> = []
        for (index, write) in writes.enumerated() where !paths.insert(write.path).inserted {
            throw StatusError(
                .invalidArgument,
                "Expected writes of different documents, found a second one of \(write.path.shown). "
                    + "Put them into a commit, where writes of one document follow each other.",
                path: write.path.string
            ).ofWrite(at: index)
        }
    }

    package static func write(_ result: [Outcome], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("writeResults")
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
