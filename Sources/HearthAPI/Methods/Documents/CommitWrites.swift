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
        /// The identity by which the commit is recognized when it is sent again; `nil` for a commit that is applied each time.
        package var identity: CommitIdentity?

        package init(writes: [Write], transaction: TransactionID? = nil, identity: CommitIdentity? = nil) {
            self.writes = writes
            self.transaction = transaction
            self.identity = identity
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

    private static let identity = Parameter<CommitIdentityParameter?>(
        CommitKeys.identity,
        "The identity of the commit. A commit with the same identity that is sent again, because its answer was lost, is answered as the "
            + "first time and not applied again."
    )

    package static let name: UTF8Key = "documents.commit"
    package static let summary = "Applies writes atomically: all of them or none."
    package static let requiredPermission = Permission.writeDocuments
    package static let parameters: [any ParameterDescription] = [writes, transaction, identity]
    package static let result = ResultDescription(
        "result",
        .object([
            .init(CommitResponseKeys.commitTime, Timestamp.schema, "The time at which the writes were applied."),
            .init(CommitResponseKeys.writeResults, .array(of: .writeResult), "The result of each write, in order."),
            .init(
                CommitResponseKeys.sequence,
                .integer(minimum: 1),
                "The sequence number of the commit, as in watch streams; absent if nothing has changed.",
                isRequired: false
            ),
            .init(
                CommitResponseKeys.replayed,
                .boolean,
                "True if the commit had been made before, and was not applied again; otherwise absent.",
                isRequired: false
            ),
            .init(
                CommitResponseKeys.resultsDropped,
                .boolean,
                "True if the results of the writes of a commit made before were too large to be kept, and writeResults is empty; otherwise "
                    + "absent.",
                isRequired: false
            ),
            .init(
                CommitResponseKeys.epoch,
                .string(),
                "The epoch of the history that the times belong to, as in watch streams; absent for a commit without an identity.",
                isRequired: false
            ),
        ]),
        "The result of the commit."
    )
    package static let errors =
        [ErrorDescription].writeErrors + [
            ErrorDescription(
                status: .aborted,
                "Data that the transaction has read has changed. Wait for the retryAfterMilliseconds in the error data and run "
                    + "the transaction again."
            ),
            ErrorDescription(
                status: .outOfRange,
                "The client of the identity, or the answer to the commit, is not known any more; the error data has the reason "
                    + "\(CommitIdentityErrorKeys.forgotten). The commit may have been applied before."
            ),
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
                    ],
                    "seq": 2
                }
                """#
        ),
        RPCExample(
            "a commit that is applied once, however often it is sent",
            params: #"""
                {
                    "writes": [{"update": {"path": "books/hitchhiker", "transforms": [{"field": "readers", "increment": 1}]}}],
                    "identity": {"client": "AAECAwQFBgcICQoLDA0ODw", "number": 1}
                }
                """#,
            result: #"""
                {
                    "commitTime": "2024-02-29T12:00:00.000000Z",
                    "writeResults": [{"updateTime": "2024-02-29T12:00:00.000000Z", "transformResults": [2]}],
                    "seq": 3,
                    "epoch": "e29374f1fe60fe125e13fe28432e8144"
                }
                """#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        let writes = try arguments[writes].map(\.write)
        return Params(
            writes: writes,
            transaction: try arguments[transaction],
            identity: try arguments[identity]?.identity(of: writes)
        )
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> CommitResult {
        try FieldTransform.validateCounts(in: params.writes)
        if params.identity != nil, params.writes.isEmpty {
            throw StatusError(.invalidArgument, "A commit without writes has no identity: it can be sent as often as you like.")
        }
        var result = try await commit(params, in: context)
        // For clients that keep documents, which send their commits with an identity.
        if params.identity != nil { result.epoch = context.store.position.epoch }
        return result
    }

    private static func commit(_ params: Params, in context: ServiceContext) async throws(StatusError) -> CommitResult {
        guard let transaction = params.transaction else {
            return try await context.commit(params.writes, identity: params.identity)
        }
        return try await context.transactions.commit(
            transaction,
            params.writes,
            for: context.caller.identity,
            to: context.store,
            identity: params.identity
        )
    }

    package static func write(_ result: CommitResult, to writer: inout JSONWriter) {
        CommitResponse(
            commitTime: result.commitTime,
            writeResults: result.writeResults,
            sequence: result.sequence?.rawValue,
            isReplayed: result.isReplayed,
            hasDroppedResults: result.hasDroppedResults,
            epoch: result.epoch
        )
        .write(to: &writer)
    }
}
