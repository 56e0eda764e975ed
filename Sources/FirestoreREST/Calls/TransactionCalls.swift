import DocumentModel
import HearthService
import StrictJSON

/// `:beginTransaction`
struct BeginTransactionCall: Call {
    static let right = BeginTransaction.right
    private static let fields: [MessageField] = .request("options")

    init(_ address: Address, _ parameters: URLParameters) {}

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let options = try Message(body, fields: Self.fields).read("options") { node throws(StatusError) in
            try BeginTransaction.Params(options: node)
        }
        let id = try await BeginTransaction.call(options ?? .readWrite, in: context)
        return try .object { writer in
            writer.key("transaction")
            writer.write(id)
        }
    }
}

/// `:rollback`
struct RollbackCall: Call {
    static let right = RollbackTransaction.right
    private static let fields: [MessageField] = .request("transaction")

    init(_ address: Address, _ parameters: URLParameters) {}

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let id = try Message(body, fields: Self.fields).read("transaction") { node throws(StatusError) in
            try TransactionID(node)
        }
        guard let id = id ?? nil else { throw StatusError(.invalidArgument, "Expected the transaction to roll back.") }
        await RollbackTransaction.call(id, in: context)
        return .empty
    }
}
