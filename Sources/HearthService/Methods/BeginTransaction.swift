package import DocumentModel
import DocumentStore
package import JSONRPC
package import StrictJSON

/// `transactions.begin`: opens a transaction.
package enum BeginTransaction: RPCMethod {
    /// What a transaction is to do.
    package enum Params: Sendable {
        /// Read, and commit writes if nothing that was read has changed.
        case readWrite
        /// Read as of a time, now when it is nil.
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
        static let readTime = Parameter<Timestamp?>("readTime", "What the reads show; what there is now when absent.")
        static let members: [any ParameterDescription] = [readTime]

        init(from members: Arguments) throws(RPCError) {
            time = try members[Self.readTime]
        }
    }

    private static let readWrite = Parameter<ReadWrite?>(
        "readWrite",
        "{}: reads show the database as of the first of them, and documents.commit succeeds only if nothing of it has changed; "
            + "so it is when neither is given."
    )
    private static let readOnly = Parameter<ReadOnly?>(
        "readOnly",
        "Reads show the database as of one time; there is nothing to commit."
    )

    package static let name: UTF8Key = "transactions.begin"
    package static let summary =
        "Opens a transaction for reads and documents.commit. It expires when it is not used for 60 seconds, and after 270."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = [readWrite, readOnly]
    package static let result = ResultDescription(
        "result",
        .object([.init("transaction", TransactionID.schema, "Names the transaction in the calls that belong to it.")]),
        "The transaction."
    )
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "Both kinds of transaction are asked for, or the readTime is yet to come."),
        ErrorDescription(status: .resourceExhausted, "Too many transactions are open."),
        ErrorDescription(status: .unavailable, "The database cannot be read now."),
    ]
    package static let examples = [
        RPCExample("to read and write", params: #"{"readWrite": {}}"#, result: #"{"transaction": "q7Zb1nV2sQ0yO3mXk5aRdA"}"#),
        RPCExample("to read", params: #"{"readOnly": {}}"#, result: #"{"transaction": "Wm4cJ8tKx2hVf0uYp9LeBg"}"#),
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
        let mode: Transaction.Mode =
            switch params {
            case .readWrite: .readWrite
            case .readOnly(let time?): .readOnly(at: try checked(time, in: context))
            case .readOnly(nil): .readOnly(at: try await Snapshot(of: context.store).time)
            }
        return try context.transactions.begin(mode, for: context.caller.identity)
    }

    /// A time that has come: reads of one that has not would be refused, and the transaction would be of no use.
    private static func checked(_ time: Timestamp, in context: ServiceContext) throws(StatusError) -> Timestamp {
        guard time > max(.current(), context.store.position.lastCommitTime ?? .minimum) else { return time }
        throw StatusError.readTimeYetToCome(time)
    }

    package static func write(_ result: TransactionID, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("transaction")
        writer.string(result.key.string)
        writer.endObject()
    }
}
