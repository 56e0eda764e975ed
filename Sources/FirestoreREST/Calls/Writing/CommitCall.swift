import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// `:commit`
struct CommitCall: Call {
    private let database: DatabaseName

    static let right = CommitWrites.right
    private static let fields: [MessageField] = .request("writes", "transaction")

    init(_ address: Address, _ parameters: URLParameters) {
        database = address.database
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let message = try Message(body, fields: Self.fields)
        let result = try await CommitWrites.call(
            .init(
                writes: try message.list("writes") { node throws(StatusError) in try Write(node, in: database) },
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

/// `:batchWrite`
struct BatchWriteCall: Call {
    private let database: DatabaseName

    static let right = BatchWrite.right
    private static let fields: [MessageField] = .request("writes", "labels")

    init(_ address: Address, _ parameters: URLParameters) {
        database = address.database
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let writes = try Message(body, fields: Self.fields).list("writes") { node throws(StatusError) in
            try Write(node, in: database)
        }
        let outcomes = try await BatchWrite.call(writes, in: context)
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
    /// Writes a status: empty for what has succeeded.
    fileprivate mutating func writeStatus(of outcome: BatchWrite.Outcome) {
        beginObject()
        if case .failure(let error) = outcome {
            key("code")
            integer(Int64(error.code.rawValue))
            key("message")
            string(error.messageWithPlaces)
        }
        endObject()
    }
}
