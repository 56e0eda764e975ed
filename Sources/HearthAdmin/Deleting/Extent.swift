import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// How many documents there are at the least, and what among them can't be read.
struct Extent: Sendable {
    var count = 0
    /// As far as documents were counted.
    var damaged: [StatusError] = []
    /// How many are counted; then there may be more.
    var limit = Self.usualLimit

    /// As many as are counted while somebody waits for a page.
    static let usualLimit = 1_000

    /// Whether there is nothing at all.
    var isEmpty: Bool { count == 0 && damaged.isEmpty }

    /// `3 documents`, `at least 1,000 documents`.
    var text: String {
        count < limit
            ? localized(count: count, one: "{count} document", other: "{count} documents")
            : localized(count: count, one: "at least {count} document", other: "at least {count} documents")
    }

    /// What two places hold together.
    static func + (one: Extent, other: Extent) -> Extent {
        Extent(count: min(one.count + other.count, one.limit), damaged: one.damaged + other.damaged, limit: one.limit)
    }
}

extension Subtree {
    /// What a collection holds with all that is below.
    func extent(of collection: CollectionPath) async throws(StatusError) -> Extent {
        var extent = Extent()
        try await visit(collection) { part throws(StatusError) in extent.add(part) }
        return extent
    }

    /// What is below a document.
    func extent(below document: DocumentPath) async throws(StatusError) -> Extent {
        var extent = Extent()
        try await visit(below: document) { part throws(StatusError) in extent.add(part) }
        return extent
    }
}

extension Extent {
    /// Counts a part; gives the documents below which to go on, or nil when that was enough.
    fileprivate mutating func add(_ part: Subtree.Part) -> [DocumentPath]? {
        count = min(count + part.documents.count, limit)
        damaged += part.damaged
        return count < limit ? part.documents.map(\.path) : nil
    }
}

extension Extent {
    /// Counts what a query finds.
    init(of query: NormalizedQuery, in context: ServiceContext) async throws(StatusError) {
        let count = try await context.count(query, upTo: Self.queryLimit)
        self.init(count: count.number, damaged: count.damaged, limit: Self.queryLimit)
    }

    /// The index counts faster than documents are visited.
    static let queryLimit = 1_000_000
}
