import DocumentModel
import DocumentStore
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON

/// A `:commit` call.
struct CommitCall: RESTCall {
    static let name = "Commit"
    private let database: DatabaseName

    static let requiredPermission = CommitRequest.requiredPermission
    private static let fields: [ProtoField] = .request("writes", "transaction")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) {
        database = requestPath.database
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let request = try CommitRequest(
            message.repeated("writes") { node throws(StatusError) in try Write(node, in: database) },
            in: message.read("transaction") { node throws(StatusError) in try TransactionID(node) } ?? nil
        )
        let result = try await request.respond(in: context)
        return try .object { writer in
            if !result.writeResults.isEmpty {
                writer.key("writeResults")
                writer.beginArray()
                for result in result.writeResults { writer.write(result, in: database) }
                writer.endArray()
            }
            writer.key("commitTime")
            writer.string(result.commitTime.rfc3339)
        }
    }
}

/// A `:batchWrite` call.
struct BatchWriteCall: RESTCall {
    static let name = "BatchWrite"
    private let database: DatabaseName

    static let requiredPermission = BatchWriteRequest.requiredPermission
    private static let fields: [ProtoField] = .request("writes", "labels")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) {
        database = requestPath.database
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let request = BatchWriteRequest(
            try ProtoMessage(body, fields: Self.fields).repeated("writes") { node throws(StatusError) in
                try Write(node, in: database)
            }
        )
        let outcomes = try await request.respond(in: context)
        return try .object { writer in
            guard !outcomes.isEmpty else { return }
            writer.key("writeResults")
            writer.beginArray()
            for outcome in outcomes { writer.write((try? outcome.get()) ?? WriteResult(updateTime: nil), in: database) }
            writer.endArray()
            writer.key("status")
            writer.beginArray()
            for outcome in outcomes { writer.writeStatus(of: outcome) }
            writer.endArray()
        }
    }
}

extension JSONWriter {
    /// Writes a `google.rpc.Status`, empty for a success.
    fileprivate mutating func writeStatus(of outcome: BatchWrite.Outcome) {
        beginObject()
        if case .failure(let error) = outcome {
            key("code")
            integer(Int64(error.code.rawValue))
            key("message")
            string(error.messageWithLocation)
        }
        endObject()
    }
}
