import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// A client that runs transactions by typed calls and retries them after the returned delay.
struct TransactionClient: Sendable {
    let context: ServiceContext

    func begin() async throws -> TransactionID {
        try await BeginTransaction.call(.readWrite, in: context)
    }

    /// Returns a field of a document as the transaction reads it; 0 if it does not exist.
    func value(of path: DocumentPath, in transaction: TransactionID) async throws -> Int64 {
        let params = BatchGetDocuments.Params(paths: [path], consistency: ReadConsistency(transaction: transaction))
        guard case .document(let document)? = try await BatchGetDocuments.call(params, in: context).documents.first,
            case .integer(let value)? = try document.decoded().fields["value"]
        else { return 0 }
        return value
    }

    /// Commits values; returns the error if the transaction was aborted.
    func commit(_ values: [(DocumentPath, Int64)], in transaction: TransactionID) async throws -> StatusError? {
        let writes = try values.map { try Write.set($0, ["value": .integer($1)]) }
        do throws(StatusError) {
            _ = try await CommitWrites.call(.init(writes: writes, transaction: transaction), in: context)
            return nil
        } catch {
            guard error.code == .aborted else { throw error }
            return error
        }
    }

    /// Runs a transaction until it commits; returns the number of attempts.
    func run(_ body: (TransactionID) async throws -> [(DocumentPath, Int64)]) async throws -> Int {
        var attempts = 0
        while true {
            attempts += 1
            let transaction = try await begin()
            guard let abort = try await commit(try await body(transaction), in: transaction) else { return attempts }
            try await Task.sleep(for: abort.retryAfter ?? .zero)
        }
    }
}
