package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `documents.commit`: many writes, all of them or none.
package enum CommitWrites: RPCMethod {
    package struct Params: Sendable {
        package var writes: [Write]
        /// The transaction to close with the writes; nil for a commit of its own.
        package var transaction: TransactionID?

        package init(writes: [Write], transaction: TransactionID? = nil) {
            self.writes = writes
            self.transaction = transaction
        }
    }

    private static let writes = Parameter<[WriteParameter]>(
        "writes",
        "The writes in order; a later one sees what the ones before it made of a document."
    )

    private static let transaction = Parameter<TransactionID?>(
        "transaction",
        "The transaction to commit: the writes are applied only if nothing that it has read has changed. It ends in any case."
    )

    package static let name: UTF8Key = "documents.commit"
    package static let summary = "Applies many writes at one time, all of them or none."
    package static let right = Role.writer
    package static let parameters: [any ParameterDescription] = [writes, transaction]
    package static let result = ResultDescription(
        "result",
        .object([
            .init("commitTime", Timestamp.schema, "The time at which the writes were applied."),
            .init("writeResults", .array(of: .writeResult), "What came of each write, in order."),
        ]),
        "What came of the commit."
    )
    package static let errors =
        [ErrorDescription].ofWrites + [
            ErrorDescription(
                status: .aborted,
                "Something that the transaction has read has changed. Run all of it again after the retryAfterMilliseconds of the "
                    + "error's data."
            )
        ]
    package static let examples = [
        RPCExample(
            "three writes",
            params: #"""
                {
                    "writes": [
                        {"set": {"path": "books/mostly-harmless", "fields": {"title": "Mostly Harmless"}}},
                        {"update": {"path": "books/mostly-harmless", "fields": {"part": 5}}},
                        {"delete": {"path": "books/so-long"}}
                    ]
                }
                """#,
            result: #"""
                {
                    "commitTime": "2024-02-29T12:00:00.000000Z",
                    "writeResults": [
                        {"updateTime": "2024-02-29T12:00:00.000000Z"},
                        {"updateTime": "2024-02-29T12:00:00.000000Z"},
                        {}
                    ]
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(writes: try arguments[writes].map(\.write), transaction: try arguments[transaction])
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> CommitResult {
        try FieldTransform.validateCounts(in: params.writes)
        guard let transaction = params.transaction else { return try await context.commit(params.writes) }
        return try await context.transactions.commit(transaction, params.writes, for: context.caller.identity, to: context.store)
    }

    package static func write(_ result: CommitResult, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("commitTime")
        writer.string(result.commitTime.rfc3339)
        writer.key("writeResults")
        writer.beginArray()
        for result in result.writeResults {
            result.write(to: &writer)
        }
        writer.endArray()
        writer.endObject()
    }
}
