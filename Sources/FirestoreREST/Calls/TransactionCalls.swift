import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON

/// A `:beginTransaction` call.
struct BeginTransactionCall: RESTCall {
    static let name = "BeginTransaction"
    static let requiredPermission = BeginTransaction.requiredPermission
    private static let fields: [ProtoField] = .request("options")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) {}

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let options = try ProtoMessage(body, fields: Self.fields).read("options") { node throws(StatusError) in
            try BeginTransaction.Params(options: node)
        }
        let id = try await BeginTransaction.call(options ?? .readWrite, in: context)
        return try .object { writer in
            writer.key("transaction")
            writer.write(id)
        }
    }
}

/// A `:rollback` call.
struct RollbackCall: RESTCall {
    static let name = "Rollback"
    static let requiredPermission = RollbackTransaction.requiredPermission
    private static let fields: [ProtoField] = .request("transaction")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) {}

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let id = try ProtoMessage(body, fields: Self.fields).read("transaction") { node throws(StatusError) in
            try TransactionID(node)
        }
        try await RollbackTransaction.call(required: id ?? nil, in: context)
        return .empty
    }
}
