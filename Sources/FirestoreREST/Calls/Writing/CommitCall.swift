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
        let writes = try message.list("writes") { node throws(StatusError) in
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

    /// Applies the writes, each of them for itself: also one that breaks a rule of documents fails alone.
    private func apply(_ writes: [Write], in context: ServiceContext) async throws(StatusError) -> [BatchWrite.Outcome] {
        let faults = writes.map { write -> StatusError? in
            do throws(StatusError) {
                try write.validate()
                return nil
            } catch {
                return error
            }
        }
        let sound = zip(writes, faults).filter { $0.1 == nil }.map(\.0)
        var outcomes = try await BatchWrite.call(sound, in: context).makeIterator()
        return faults.map { fault in fault.map { .failure($0) } ?? outcomes.next() ?? .failure(Self.withoutOutcome) }
    }

    private static let withoutOutcome = StatusError(.internal, "A write has no outcome.")
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
