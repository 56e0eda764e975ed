package import DocumentModel
import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `transactions.begin`: begins a transaction.
package enum BeginTransaction: RPCMethod {
    /// The mode of the transaction.
    package enum Params: Sendable {
        /// Reads, and commits writes if none of the data read has changed.
        case readWrite
        /// Reads at a point in time, or the latest state for `nil`.
        case readOnly(readTime: Timestamp?)
    }

    private struct ReadWrite: ObjectParameter {
        static let schemaName = "ReadWriteTransaction"
        static let members: [any ParameterDescription] = []

        init(from members: Arguments) {}
    }

    private struct ReadOnly: ObjectParameter {
        let time: Timestamp?

        static let schemaName = "ReadOnlyTransaction"
        static let readTime = Parameter<Timestamp?>(
            TransactionKeys.readTime,
            "The point in time to read at. Default: the latest state."
        )
        static let members: [any ParameterDescription] = [readTime]

        init(from members: Arguments) throws(RPCError) {
            time = try members[Self.readTime]
        }
    }

    private static let readWrite = Parameter<ReadWrite?>(
        TransactionKeys.readWrite,
        "{}: reads show the database at the time of the first read, and documents.commit succeeds only if none of the data "
            + "read has changed. This is the default mode."
    )
    private static let readOnly = Parameter<ReadOnly?>(
        TransactionKeys.readOnly,
        "Reads show the database at one point in time. The transaction cannot commit writes."
    )

    package static let name: UTF8Key = "transactions.begin"
    package static let summary =
        "Begins a transaction for reads and documents.commit. It expires after 60 seconds of inactivity, and after 270 seconds "
        + "regardless."
    package static let requiredPermission = Permission.readDocuments
    package static let parameters: [any ParameterDescription] = [readWrite, readOnly]
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                TransactionKeys.transaction,
                TransactionID.schema,
                "The transaction ID, to be passed to the calls of the transaction."
            )
        ]
        ),
        "The transaction."
    )
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "Both modes are given, or the readTime is in the future."),
        ErrorDescription(status: .resourceExhausted, "The maximum number of open transactions has been reached."),
        ErrorDescription(status: .unavailable, "The database cannot currently be read."),
    ]
    package static let examples = [
        RPCExample(
            "a read-write transaction",
            params: #"{"readWrite": {}}"#,
            result: #"{"transaction": "q7Zb1nV2sQ0yO3mXk5aRdA"}"#
        ),
        RPCExample(
            "a read-only transaction",
            params: #"{"readOnly": {}}"#,
            result: #"{"transaction": "Wm4cJ8tKx2hVf0uYp9LeBg"}"#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        switch (try arguments[readWrite], try arguments[readOnly]) {
        case (_, nil): return .readWrite
        case (nil, let readOnly?): return .readOnly(readTime: readOnly.time)
        case (.some, .some):
            throw RPCError.invalidParams(
                at: "\(arguments.location(of: readOnly))",
                reason: "expected at most one of readWrite and readOnly"
            )
        }
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> TransactionID {
        if case .readOnly(let time?) = params { try ReadConsistency(readTime: time).requireAccess(for: context.caller) }
        let mode: OpenTransaction.Mode =
            switch params {
            case .readWrite: .readWrite
            case .readOnly(let time?): .readOnly(at: try await validated(time, in: context))
            case .readOnly(nil): .readOnly(at: try await ReadSnapshot(of: context.store).time)
            }
        return try context.transactions.begin(mode, for: context.caller.identity)
    }

    /// Rejects a read time in the future, since all reads of the transaction would fail.
    private static func validated(_ time: Timestamp, in context: ServiceContext) async throws(StatusError) -> Timestamp {
        guard try await context.store.isInFuture(time) else { return time }
        throw StatusError.readTimeInFuture(time)
    }

    package static func write(_ result: TransactionID, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(TransactionKeys.transaction, result.key.string)
        writer.endObject()
    }
}
