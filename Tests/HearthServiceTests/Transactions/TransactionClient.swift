import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// Does what a client does to run a transaction: by typed calls, again and again as advised.
struct TransactionClient: Sendable {
    let context: ServiceContext

    func begin() async throws -> TransactionID {
        try await BeginTransaction.call(.readWrite, in: context)
    }

    /// A field of a document, as the transaction sees it; 0 when there is none.
    func value(of path: DocumentPath, in transaction: TransactionID) async throws -> Int64 {
        let params = BatchGetDocuments.Params(paths: [path], at: ReadPoint(transaction: transaction))
        guard case .document(let document)? = try await BatchGetDocuments.call(params, in: context).first,
            case .integer(let value)? = try document.decoded().fields["value"]
        else { return 0 }
        return value
    }

    /// Commits values for documents; returns why it was refused, when others were first.
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

    /// Runs a transaction until it commits; returns how often that was.
    func run(_ body: (TransactionID) async throws -> [(DocumentPath, Int64)]) async throws -> Int {
        var attempts = 0
        while true {
            attempts += 1
            let transaction = try await begin()
            guard let refusal = try await commit(try await body(transaction), in: transaction) else { return attempts }
            try await Task.sleep(for: refusal.retryAfter ?? .zero)
        }
    }
}
