package import DocumentModel
import DocumentStore
package import HearthAPI

/// A `BatchGetDocuments` request.
package struct BatchGetDocumentsRequest: Sendable {
    private let paths: [DocumentPath]
    private let mask: [FieldPath]?
    private let consistency: ConsistencySelector

    package static let requiredPermission = BatchGetDocuments.requiredPermission
    package static let expectedResponseBytes = BatchGetDocuments.expectedResponseBytes

    /// Creates a request. Each document is returned once.
    package init(_ paths: [DocumentPath], mask: [FieldPath]?, _ consistency: ConsistencySelector) {
        self.paths = paths.uniqued()
        self.mask = mask
        self.consistency = consistency
    }

    /// The documents of a response, all as of one time.
    package struct Response: Sendable {
        /// The existing documents, then the missing ones.
        private let entries: [ListedDocument]
        private let readTime: Timestamp
        private let newTransaction: TransactionID?

        fileprivate init(_ entries: [ListedDocument], readTime: Timestamp, newTransaction: TransactionID?) {
            self.entries = entries.filter(\.exists) + entries.filter { !$0.exists }
            self.readTime = readTime
            self.newTransaction = newTransaction
        }
    }

    package func respond(in context: ServiceContext) async throws(StatusError) -> Response {
        try await consistency.read(in: context) { consistency, newTransaction throws(StatusError) in
            let time = try await consistency.resolvedReadTime(in: context)
            let consistency = consistency.transaction == nil ? .snapshot(at: time) : consistency
            return Response(
                try await entries(consistency, in: context),
                readTime: time,
                newTransaction: newTransaction
            )
        }
    }

    /// Reads documents in as many service calls as needed, within the size limit of one response.
    private func entries(
        _ consistency: ReadConsistency,
        in context: ServiceContext
    ) async throws(StatusError) -> [ListedDocument] {
        let limits = context.server.limits
        var entries: [ListedDocument] = []
        for start in stride(from: 0, to: paths.count, by: limits.maximumBatchGetCount) {
            let batch = Array(paths[start...].prefix(limits.maximumBatchGetCount))
            let params = BatchGetDocuments.Params(paths: batch, mask: mask, consistency: consistency)
            entries += try await BatchGetDocuments.call(params, in: context).documents
            guard entries.estimatedBytes <= limits.maximumBodyBytes else {
                throw StatusError(
                    .resourceExhausted,
                    "The documents exceed the response limit of \(limits.maximumBodyBytes) bytes. Request fewer at once."
                )
            }
        }
        return entries
    }
}

extension BatchGetDocumentsRequest.Response {
    /// A message of the response.
    package struct Message: Sendable {
        /// The document; `nil` in the only message of an empty response.
        package let entry: ListedDocument?
        package let readTime: Timestamp
        /// The transaction that the request has begun, in the first message.
        package let newTransaction: TransactionID?
    }

    /// The number of messages, at least 1.
    package var count: Int { max(entries.count, 1) }

    package subscript(index: Int) -> Message {
        Message(
            entry: entries.indices.contains(index) ? entries[index] : nil,
            readTime: readTime,
            newTransaction: index == 0 ? newTransaction : nil
        )
    }

    /// The approximate size of the documents in memory.
    package var estimatedBytes: Int { entries.estimatedBytes }
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
