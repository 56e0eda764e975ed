import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON

/// A `:batchGet` call.
///
/// All documents are read as of one time, the response's `readTime`. Existing documents precede missing ones.
struct BatchGetCall: RESTCall {
    private let database: DatabaseName

    static let requiredPermission = BatchGetDocuments.requiredPermission
    static let expectedResponseBytes = BatchGetDocuments.expectedResponseBytes
    private static let fields: [ProtoField] = .request("documents", "mask") + ConsistencySelector.fields

    init(_ requestPath: RequestPath, _ parameters: URLParameters) {
        database = requestPath.database
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let paths = try message.repeated("documents") { node throws(StatusError) in
            try database.document(named: node.stringField())
        }
        let mask = try message.read("mask") { node throws(StatusError) in try [FieldPath](mask: node) }
        return try await ConsistencySelector(message).read(in: context) { consistency, newTransaction throws(StatusError) in
            let time = try await consistency.resolvedReadTime(in: context)
            let consistency = consistency.transaction == nil ? ReadConsistency(readTime: time) : consistency
            let entries = try await read(paths.uniqued(), mask, consistency: consistency, in: context)
            return response(entries, readTime: time, newTransaction: newTransaction)
        }
    }

    /// Reads documents in as many service calls as needed, within the size limit of one response.
    private func read(
        _ paths: [DocumentPath],
        _ mask: [FieldPath]?,
        consistency: ReadConsistency,
        in context: ServiceContext
    ) async throws(StatusError) -> [ListedDocument] {
        let limits = context.server.limits
        var entries: [ListedDocument] = []
        for start in stride(from: 0, to: paths.count, by: limits.maximumBatchGetCount) {
            let batch = Array(paths[start...].prefix(limits.maximumBatchGetCount))
            entries += try await BatchGetDocuments.call(.init(paths: batch, mask: mask, consistency: consistency), in: context)
            guard entries.estimatedBytes <= limits.maximumBodyBytes else {
                throw StatusError(
                    .resourceExhausted,
                    "The documents exceed the response limit of \(limits.maximumBodyBytes) bytes. Request fewer at once."
                )
            }
        }
        return entries
    }

    private func response(
        _ entries: [ListedDocument],
        readTime: Timestamp,
        newTransaction: TransactionID?
    ) -> FirestoreResponse {
        let ordered = entries.filter(\.exists) + entries.filter { !$0.exists }
        let stream = FirestoreMessageStream(count: max(ordered.count, 1), estimatedBytes: entries.estimatedBytes) {
            [database] index, writer throws(StatusError) in
            writer.beginObject()
            if let newTransaction, index == 0 {
                writer.key("transaction")
                writer.write(newTransaction)
            }
            switch ordered.indices.contains(index) ? ordered[index] : nil {
            case .document(let document)?:
                writer.key("found")
                try writer.write(document, in: database)
            case .missing(let path)?:
                writer.key("missing")
                writer.string(database.name(of: path))
            case nil: break
            }
            writer.key("readTime")
            writer.string(readTime.rfc3339)
            writer.endObject()
        }
        return FirestoreResponse(.stream(stream))
    }
}

extension ListedDocument {
    fileprivate var exists: Bool {
        if case .document = self { true } else { false }
    }
}

extension [ListedDocument] {
    /// The approximate size of the entries in memory.
    var estimatedBytes: Int {
        reduce(0) { bytes, entry in
            guard case .document(let document) = entry else { return bytes + 128 }
            return bytes + 128 + document.fieldsJSON.count
        }
    }
}

extension [DocumentPath] {
    fileprivate func uniqued() -> [DocumentPath] {
        var seen: Set<DocumentPath> = []
        return filter { seen.insert($0).inserted }
    }
}
