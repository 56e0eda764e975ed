import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// How many documents there are beside those on a page, counted only as far as that takes no time.
struct CollectionCount: Sendable {
    /// How many were counted.
    let counted: Int
    /// Whether there may be more than were counted.
    let isBound: Bool

    /// Counts what a listing shows a part of; nil where that would take longer than to show it.
    ///
    /// How many documents a collection has is known, and how many entries a single condition has the index counts. What several
    /// conditions have in common would have to be looked at one by one.
    init?(_ listing: CollectionListing, in context: ServiceContext) async {
        guard listing.fault == nil else { return nil }
        if listing.isWhole {
            self.init(counted: listing.documents.count, isBound: false)
            return
        }
        let request = listing.request
        if !request.isQuery, let size = try? await SizeOfCollection.call(.init(collection: request.path), in: context) {
            self.init(counted: size.documentCount, isBound: false)
            return
        }
        guard request.filters.count + request.orders.count <= 1, let query = try? CollectionQuery(request).query else {
            return nil
        }
        await self.init(query, in: context)
    }

    /// Counts the documents of a query; nil when that isn't possible now.
    init?(_ query: NormalizedQuery, atMost limit: Int = Self.limit, in context: ServiceContext) async {
        guard let count = try? await context.count(query, upTo: limit).number else { return nil }
        self.init(counted: count, isBound: count >= limit)
    }

    private init(counted: Int, isBound: Bool) {
        self.counted = counted
        self.isBound = isBound
    }

    /// The number; that of many with the sign for at least.
    var text: String { (isBound ? "≥ " : "") + Counting.grouped(counted) }

    private static let limit = 2_000
}

extension ServiceContext {
    /// How many documents a query finds, counted up to a limit, and what among them can't be read.
    func count(
        _ query: NormalizedQuery,
        upTo limit: Int
    ) async throws(StatusError) -> (number: Int, damaged: [StatusError]) {
        let count = try NormalizedAggregations([Aggregation(.count(upTo: limit), alias: "count")])
        let answer = try await AggregateQuery.call(.init(count, of: query), in: self)
        guard case .integer(let number)? = answer.results["count"] else {
            throw StatusError(.internal, "The query gives no number.")
        }
        return (Int(number), answer.damaged)
    }
}
