import DocumentModel
import DocumentStore
import HearthAPI

/// A document count with an upper limit, and the errors of unreadable documents among the counted ones.
struct DocumentCountEstimate: Sendable {
    var count = 0
    var damaged: [StatusError] = []
    /// The maximum count. A count that reaches it is a lower bound.
    var limit = Self.traversalLimit

    /// The limit on a count by traversal, which delays the page.
    static let traversalLimit = 1_000
    /// The limit on a count by query, which reads only the index.
    static let queryLimit = 1_000_000

    var isEmpty: Bool { count == 0 && damaged.isEmpty }

    /// True if there may be more documents than were counted.
    var isLowerBound: Bool { count >= limit }

    /// `3 documents`, `at least 1,000 documents`.
    var text: String {
        isLowerBound
            ? localized(count: count, one: "at least {count} document", other: "at least {count} documents")
            : localized(count: count, one: "{count} document", other: "{count} documents")
    }

    static func + (lhs: DocumentCountEstimate, rhs: DocumentCountEstimate) -> DocumentCountEstimate {
        DocumentCountEstimate(
            count: min(lhs.count + rhs.count, lhs.limit),
            damaged: lhs.damaged + rhs.damaged,
            limit: lhs.limit
        )
    }
}

extension DocumentCountEstimate {
    /// Counts the documents that match a query.
    init(of query: NormalizedQuery, in context: ServiceContext) async throws(StatusError) {
        let count = try await context.count(query, upTo: Self.queryLimit)
        self.init(count: count.number, damaged: count.damaged, limit: Self.queryLimit)
    }

    /// Adds a batch; returns the documents to descend into, or `nil` if the limit is reached.
    fileprivate mutating func add(_ batch: Subtree.Batch) -> [DocumentPath]? {
        count = min(count + batch.documents.count, limit)
        damaged += batch.damaged
        return isLowerBound ? nil : batch.documents.map(\.path)
    }
}

extension Subtree {
    /// Counts the documents in a collection and all its subcollections. Those of a large one are counted in the index.
    func estimate(of collection: CollectionPath) async throws(StatusError) -> DocumentCountEstimate {
        var estimate = DocumentCountEstimate()
        try await visit(collection) { batch throws(StatusError) in estimate.add(batch) }
        guard estimate.isLowerBound, let count = await indexedCount(of: collection) else { return estimate }
        estimate.limit = DocumentCountEstimate.queryLimit
        estimate.count = max(estimate.count, count)
        return estimate
    }

    /// Counts the readable documents in a collection and all its subcollections in the index; `nil` if it cannot be read.
    private func indexedCount(of collection: CollectionPath) async -> Int? {
        let query = StructuredQuery(.descendants(of: nil), where: DescendantNameRange(collection).filter)
        return try? await context.count(NormalizedQuery(query), upTo: DocumentCountEstimate.queryLimit).number
    }

    /// Counts the documents in all subcollections of a document.
    func estimate(below document: DocumentPath) async throws(StatusError) -> DocumentCountEstimate {
        var estimate = DocumentCountEstimate()
        try await visit(below: document) { batch throws(StatusError) in estimate.add(batch) }
        return estimate
    }
}
