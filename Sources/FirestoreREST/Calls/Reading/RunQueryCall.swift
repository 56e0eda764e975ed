import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// `:runQuery`
struct RunQueryCall: Call {
    private let database: DatabaseName
    private let parent: DocumentPath?

    static let right = RunQuery.right
    static let expectedAnswerBytes = RunQuery.expectedAnswerBytes
    private static let fields: [MessageField] = .request("structuredQuery", "explainOptions") + ConsistencySelector.fields

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError) {
        database = address.database
        parent = try address.parent()
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let message = try Message(body, fields: Self.fields)
        try message.refuseExplaining()
        let query = try message.require("structuredQuery") { node throws(StatusError) in
            try NormalizedQuery(node, below: parent, in: database)
        }
        return try await ConsistencySelector(message).read(in: context) { point, begun throws(StatusError) in
            let found = try await RunQuery.call(.init(query, at: point), in: context)
            return answer(found, skipped: query.offset, begun: begun)
        }
    }

    /// A message for each document; for a transaction that has begun one before them, and one with the time alone where there
    /// is no document.
    private func answer(_ found: QueryAnswer, skipped: Int, begun: TransactionID?) -> FirestoreAnswer {
        let first = begun == nil ? 0 : 1
        let readTime = found.readTime.rfc3339
        let heldBytes = found.documents.reduce(0) { $0 + 128 + $1.fieldsJSON.count }
        let stream = FirestoreStream(count: first + max(found.documents.count, 1), heldBytes: heldBytes) {
            [database] index, writer throws(StatusError) in
            writer.beginObject()
            if let begun, index == 0 {
                writer.key("transaction")
                writer.write(begun)
                return writer.endObject()
            }
            let index = index - first
            if found.documents.indices.contains(index) {
                writer.key("document")
                try writer.write(found.documents[index], in: database)
                if index == 0, skipped > 0 {
                    writer.key("skippedResults")
                    writer.integer(Int64(skipped))
                }
            }
            writer.key("readTime")
            writer.string(readTime)
            writer.endObject()
        }
        return FirestoreAnswer(.stream(stream), damagedCount: found.damaged.count)
    }
}

extension Message {
    /// Refuses what asks how a query is executed.
    func refuseExplaining() throws(StatusError) {
        _ = try read("explainOptions") { _ throws(StatusError) in
            throw StatusError(
                .unimplemented,
                "Queries are not explained over this interface. Leave explainOptions out, or call query.explain of Hearth's JSON-RPC."
            )
        }
    }
}
