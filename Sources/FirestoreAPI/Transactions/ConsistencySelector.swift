package import DocumentModel
import FirestoreMessages
package import HearthAPI
import UTF8Text

/// The `consistency_selector` of a read request.
package enum ConsistencySelector: Sendable {
    /// A strongly consistent read.
    case latest
    case readTime(Timestamp)
    /// A read in a transaction, or, with a read time, as of that time.
    case transaction(TransactionID, readTime: Timestamp?)
    /// A read in a transaction that the request begins.
    case newTransaction(BeginTransaction.Params)

    /// Performs a read with the selected consistency. A transaction that it begins is rolled back if the read fails.
    ///
    /// - Parameter read: Performs the read; receives the ID of a transaction begun for it.
    func read<Result>(
        in context: ServiceContext,
        _ read: (ReadConsistency, _ newTransaction: TransactionID?) async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        switch self {
        case .latest: return try await read(ReadConsistency(), nil)
        case .readTime(let time): return try await read(ReadConsistency(readTime: time), nil)
        case .transaction(let id, let time): return try await read(ReadConsistency(readTime: time, transaction: id), nil)
        case .newTransaction(let options):
            let id = try await BeginTransaction.call(options, in: context)
            do throws(StatusError) {
                return try await read(ReadConsistency(transaction: id), id)
            } catch {
                await RollbackTransaction.call(id, in: context)
                throw error
            }
        }
    }
}

extension TransactionID {
    /// Decodes a transaction ID, or returns `nil` if it is empty.
    ///
    /// - Parameter bytes: The bytes of the field; `nil` if they cannot be decoded.
    /// - Throws: ``StatusCode/invalidArgument`` for an invalid ID.
    package init?(bytes: [UInt8]?) throws(StatusError) {
        guard let bytes, let key = UTF8Key(validating: bytes) else {
            throw StatusError(.invalidArgument, "Invalid transaction. Use the one returned by beginTransaction.")
        }
        guard key.byteCount > 0 else { return nil }
        self.init(key.string)
    }

    /// The ID in a message.
    package var bytes: [UInt8] { Array(key.utf8) }
}

extension RollbackTransaction {
    /// Rolls back the transaction of a `Rollback` request.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the request has none.
    package static func call(required id: TransactionID?, in context: ServiceContext) async throws(StatusError) {
        guard let id else { throw .missing("transaction") }
        await call(id, in: context)
    }
}
