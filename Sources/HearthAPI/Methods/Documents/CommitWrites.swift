package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.commit`: applies writes atomically.
package enum CommitWrites: RPCMethod {
    /// The parameters of `documents.commit`.
    package struct Params: Sendable {
        package var writes: [Write]
        /// The transaction to commit, or `nil` for a commit outside a transaction.
        package var transaction: TransactionID?

        package init(writes: [Write], transaction: TransactionID? = nil) {
            self.writes = writes
            self.transaction = transaction
        }
    }

    private static let writes = Parameter<[WriteParameter]>(
        CommitKeys.writes,
        "The writes, in order; a write sees the effects of the writes before it."
    )

    private static let transaction = Parameter<TransactionID?>(
        CommitKeys.transaction,
        "The transaction to commit: the writes are applied only if nothing that the transaction has read has changed. The transaction ends "
            + "whether or not the commit succeeds."
    )

    package static let name: UTF8Key = "documents.commit"
    package static let summary = "Applies writes atomically: all of them or none."
    package static let requiredPermission = Permission.writeDocuments
    package static let parameters: [any ParameterDescription] = [writes, transaction]
    package static let result = ResultDescription(
        "result",
        .object([
            .init(CommitResponseKeys.commitTime, Timestamp.schema, "The time at which the writes were applied."),
            .init(CommitResponseKeys.writeResults, .array(of: .writeResult), "The result of each write, in order."),
        ]),
        "The result of the commit."
    )
    package static let errors =
        [ErrorDescription].writeErrors + [
            ErrorDescription(
                status: .aborted,
                "Data that the transaction has read has changed. Wait for the retryAfterMilliseconds in the error data and run "
                    + "the transaction again."
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
        CommitResponse(commitTime: result.commitTime, writeResults: result.writeResults).write(to: &writer)
    }
}
