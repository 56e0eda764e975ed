import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// `:batchGet`
///
/// All documents are as of one time, which the answer tells: those that exist first, then the names of the others.
struct BatchGetCall: Call {
    private let database: DatabaseName

    static let right = BatchGetDocuments.right
    static let expectedAnswerBytes = BatchGetDocuments.expectedAnswerBytes
    private static let fields: [MessageField] = .request("documents", "mask") + ConsistencySelector.fields

    init(_ address: Address, _ parameters: URLParameters) {
        database = address.database
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let message = try Message(body, fields: Self.fields)
        let paths = try message.list("documents") { node throws(StatusError) in
            try database.document(named: node.stringField())
        }
        let mask = try message.read("mask") { node throws(StatusError) in try [FieldPath](mask: node) }
        return try await ConsistencySelector(message).read(in: context) { point, begun throws(StatusError) in
            let time = try await point.shownTime(in: context)
            let point = point.transaction == nil ? ReadPoint(readTime: time) : point
            let entries = try await read(paths.withoutRepetition(), mask, at: point, in: context)
            return answer(entries, readTime: time, begun: begun)
        }
    }

    /// Reads in as many calls as it takes, and no more than one call's answer may have.
    private func read(
        _ paths: [DocumentPath],
        _ mask: [FieldPath]?,
        at point: ReadPoint,
        in context: ServiceContext
    ) async throws(StatusError) -> [ListedDocument] {
        let limits = context.server.limits
        var entries: [ListedDocument] = []
        for start in stride(from: 0, to: paths.count, by: limits.maximumBatchGetCount) {
            let part = Array(paths[start...].prefix(limits.maximumBatchGetCount))
            entries += try await BatchGetDocuments.call(.init(paths: part, mask: mask, at: point), in: context)
            guard entries.heldBytes <= limits.maximumBodyBytes else {
                throw StatusError(
                    .resourceExhausted,
                    "The documents are larger than the \(limits.maximumBodyBytes) bytes of an answer. Ask for fewer at once."
                )
            }
        }
        return entries
    }

    private func answer(_ entries: [ListedDocument], readTime: Timestamp, begun: TransactionID?) -> FirestoreAnswer {
        let found = entries.filter(\.exists) + entries.filter { !$0.exists }
        let stream = FirestoreStream(count: max(found.count, 1), heldBytes: entries.heldBytes) {
            [database] index, writer throws(StatusError) in
            writer.beginObject()
            if let begun, index == 0 {
                writer.key("transaction")
                writer.write(begun)
            }
            switch found.indices.contains(index) ? found[index] : nil {
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
        return FirestoreAnswer(.stream(stream))
    }
}

extension ListedDocument {
    fileprivate var exists: Bool {
        if case .document = self { true } else { false }
    }
}

extension [ListedDocument] {
    /// About how many bytes the entries take.
    var heldBytes: Int {
        reduce(0) { bytes, entry in
            guard case .document(let document) = entry else { return bytes + 128 }
            return bytes + 128 + document.fieldsJSON.count
        }
    }
}

extension [DocumentPath] {
    fileprivate func withoutRepetition() -> [DocumentPath] {
        var seen: Set<DocumentPath> = []
        return filter { seen.insert($0).inserted }
    }
}
