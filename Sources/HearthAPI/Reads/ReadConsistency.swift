package import DocumentModel
import HearthWire
import JSONRPC
import UTF8Text

/// The consistency of a read: at a point in time, in a transaction, or of the latest state by default.
package struct ReadConsistency: Sendable {
    /// The point in time to read at.
    package var readTime: Timestamp?
    /// The transaction to read in.
    package var transaction: TransactionID?
    /// True if the server has chosen the time, that of a state that was the latest a moment ago.
    private(set) var isOfServer = false

    package init(readTime: Timestamp? = nil, transaction: TransactionID? = nil) {
        self.readTime = readTime
        self.transaction = transaction
    }

    /// Creates the consistency of reads of the state as of a call's commit or first read.
    package static func snapshot(at time: Timestamp) -> ReadConsistency {
        var consistency = ReadConsistency(readTime: time)
        consistency.isOfServer = true
        return consistency
    }

    /// Requires that a caller may read at a point in time of its choice: the past could show an end user what rules now hide.
    func requireAccess(for caller: Caller) throws(StatusError) {
        guard caller.isEndUser, readTime != nil, !isOfServer else { return }
        throw .closedToEndUsers("Reading at a point in time requires an API key.")
    }

    static let readTime = Parameter<Timestamp?>(
        ReadConsistencyKeys.readTime,
        "The point in time to read at, within the retained history. Default: the latest state."
    )
    static let transaction = Parameter<TransactionID?>(
        ReadConsistencyKeys.transaction,
        "The transaction to read in: reads show the state as of its first read, and its commit fails if the results have changed. A read with "
            + "its own readTime reads at that time and is not validated by the commit."
    )

    /// The parameters that reading methods append to their own.
    static let parameters: [any ParameterDescription] = [readTime, transaction]

    init(from arguments: Arguments) throws(RPCError) {
        readTime = try arguments[Self.readTime]
        transaction = try arguments[Self.transaction]
    }
}

extension ReadConsistency {
    /// Returns the point in time that reads with this consistency show. For the latest state, it is the time of the last commit;
    /// a caller that passes it on as `readTime` reads exactly that state.
    package func resolvedReadTime(in context: ServiceContext) async throws(StatusError) -> Timestamp {
        if let time = try await ReadView(self, in: context).readTime { return time }
        return try await ReadSnapshot(of: context.store).time
    }
}

extension [ErrorDescription] {
    /// The errors of methods that read at a point in time or in a transaction.
    static let readErrors = [
        ErrorDescription(
            status: .invalidArgument,
            "A parameter is invalid, the readTime is in the future, or the transaction has expired."
        ),
        ErrorDescription(status: .failedPrecondition, "The history at the readTime is no longer retained."),
        ErrorDescription(
            status: .aborted,
            "The history that the transaction reads is no longer retained. Retry the transaction."
        ),
        ErrorDescription(
            status: .resourceExhausted,
            "The response exceeds the size limit, or the transaction exceeds its read limit."
        ),
    ]
}
