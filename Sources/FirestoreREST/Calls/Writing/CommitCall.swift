import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON

/// A `:commit` call.
struct CommitCall: RESTCall {
    private let database: DatabaseName

    static let requiredPermission = CommitWrites.requiredPermission
    private static let fields: [ProtoField] = .request("writes", "transaction")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) {
        database = requestPath.database
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let writes = try message.repeated("writes") { node throws(StatusError) in
            let write = try Write(node, in: database)
            try write.validate()
            return write
        }
        let result = try await CommitWrites.call(
            .init(
                writes: writes,
                transaction: try message.read("transaction") { node throws(StatusError) in try TransactionID(node) } ?? nil
            ),
            in: context
        )
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
    private let database: DatabaseName

    static let requiredPermission = BatchWrite.requiredPermission
    private static let fields: [ProtoField] = .request("writes", "labels")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) {
        database = requestPath.database
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let writes = try ProtoMessage(body, fields: Self.fields).repeated("writes") { node throws(StatusError) in
            try Write(node, in: database)
        }
        let outcomes = try await apply(writes, in: context)
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

    /// Applies the writes independently: an invalid write fails on its own.
    private func apply(_ writes: [Write], in context: ServiceContext) async throws(StatusError) -> [BatchWrite.Outcome] {
        let validationErrors = writes.map { write -> StatusError? in
            do throws(StatusError) {
                try write.validate()
                return nil
            } catch {
                return error
            }
        }
        let validWrites = zip(writes, validationErrors).filter { $0.1 == nil }.map(\.0)
        var outcomes = try await BatchWrite.call(validWrites, in: context).makeIterator()
        return validationErrors.map { error in error.map { .failure($0) } ?? outcomes.next() ?? .failure(Self.missingOutcome) }
    }

    private static let missingOutcome = StatusError(.internal, "BatchWrite returned too few results.")
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
