import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON

/// A `:runQuery` call.
struct RunQueryCall: RESTCall {
    private let database: DatabaseName
    private let parent: DocumentPath?

    static let requiredPermission = RunQuery.requiredPermission
    static let expectedResponseBytes = RunQuery.expectedResponseBytes
    private static let fields: [ProtoField] = .request("structuredQuery", "explainOptions") + ConsistencySelector.fields

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        parent = try requestPath.parent()
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        try message.rejectExplainOptions()
        let query = try message.require("structuredQuery") { node throws(StatusError) in
            try NormalizedQuery(node, below: parent, in: database)
        }
        return try await ConsistencySelector(message).read(in: context) { consistency, newTransaction throws(StatusError) in
            let found = try await RunQuery.call(.init(query, consistency: consistency), in: context)
            return response(found, skipped: query.offset, newTransaction: newTransaction)
        }
    }

    /// Returns one message per document, or one with only the read time if there are none. A new transaction's ID precedes them
    /// in a separate message.
    private func response(_ found: QueryResults, skipped: Int, newTransaction: TransactionID?) -> FirestoreResponse {
        let first = newTransaction == nil ? 0 : 1
        let readTime = found.readTime.rfc3339
        let estimatedBytes = found.documents.reduce(0) { $0 + 128 + $1.fieldsJSON.count }
        let stream = FirestoreMessageStream(count: first + max(found.documents.count, 1), estimatedBytes: estimatedBytes) {
            [database] index, writer throws(StatusError) in
            writer.beginObject()
            if let newTransaction, index == 0 {
                writer.key("transaction")
                writer.write(newTransaction)
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
        return FirestoreResponse(.stream(stream), damagedCount: found.damaged.count)
    }
}

extension ProtoMessage {
    /// Throws ``StatusCode/unimplemented`` if the request has `explainOptions`.
    func rejectExplainOptions() throws(StatusError) {
        _ = try read("explainOptions") { _ throws(StatusError) in
            throw StatusError(
                .unimplemented,
                "explainOptions is not supported by this API. Omit it, or call query.explain over JSON-RPC."
            )
        }
    }
}
