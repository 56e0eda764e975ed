package import DocumentModel
import JSONRPC
import StrictJSON

/// As of when a call reads; now, when it says nothing.
package struct ReadPoint: Sendable {
    /// As of this time.
    package var readTime: Timestamp?
    /// In this transaction.
    package var transaction: TransactionID?

    package init(readTime: Timestamp? = nil, transaction: TransactionID? = nil) {
        self.readTime = readTime
        self.transaction = transaction
    }

    static let readTime = Parameter<Timestamp?>(
        "readTime",
        "Read as it was at this time, which must lie within the history that is kept; as it is now when absent."
    )
    static let transaction = Parameter<TransactionID?>(
        "transaction",
        "Read in this transaction: as of its first read, and so that its commit fails when what was read has changed. With a "
            + "readTime of its own the read shows that time, and is not part of what the commit checks."
    )

    /// What methods that read take behind their own parameters.
    static let parameters: [any ParameterDescription] = [readTime, transaction]

    init(from arguments: Arguments) throws(RPCError) {
        readTime = try arguments[Self.readTime]
        transaction = try arguments[Self.transaction]
    }
}

extension ReadPoint {
    /// The time that reads at this point show. Of those that read what is there now it is the time of the last commit, at which
    /// they then should read, to show no other.
    package func shownTime(in context: ServiceContext) async throws(StatusError) -> Timestamp {
        if let time = try await ReadView(self, in: context).readTime { return time }
        return try await Snapshot(of: context.store).time
    }
}

extension [ErrorDescription] {
    /// The errors of methods that read as of a time, or in a transaction.
    static let ofReads = [
        ErrorDescription(
            status: .invalidArgument,
            "A parameter breaks a rule, the readTime is yet to come, or the transaction has expired."
        ),
        ErrorDescription(status: .failedPrecondition, "The history that the readTime needs is not kept any more."),
        ErrorDescription(status: .aborted, "What the transaction reads is not kept any more; run all of it again."),
        ErrorDescription(
            status: .resourceExhausted,
            "The answer would be larger than it may be, or the transaction has read more than it may."
        ),
    ]
}
