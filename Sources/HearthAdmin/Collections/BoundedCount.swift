import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// A number of documents, counted up to a limit.
struct BoundedCount: Sendable {
    /// The number of documents, at most the limit.
    let value: Int
    /// True if the limit was reached, so that there may be more documents.
    let isLowerBound: Bool

    /// Counts all documents that match the request of a result page; `nil` if the query cannot be executed.
    ///
    /// The size of a collection is stored, and the index counts the entries of a condition and an order on one field. The
    /// intersection of several fields is enumerated, up to a limit of a few pages, so that counting costs about as much as these.
    init?(_ results: CollectionResults, in context: ServiceContext) async {
        guard results.error == nil else { return nil }
        if results.isComplete {
            self.init(value: results.documents.count, isLowerBound: false)
            return
        }
        let request = results.request
        if !request.isQuery, let size = try? await GetCollectionSize.call(.init(collection: request.path), in: context) {
            self.init(value: size.documentCount, isLowerBound: false)
            return
        }
        guard let query = try? CollectionQuery(request).query else { return nil }
        let fields = Set(request.filters.map { try? FieldPathText.path($0.field) } + request.orders.map { $0.field })
        let isOfOneField = request.filters.count <= 1 && fields.count <= 1
        await self.init(query, atMost: isOfOneField ? Self.limit : Self.intersectionLimit, in: context)
    }

    /// Counts the documents that match a query; `nil` if the query cannot be executed.
    init?(_ query: NormalizedQuery, atMost limit: Int = Self.limit, in context: ServiceContext) async {
        guard let count = try? await context.count(query, upTo: limit).number else { return nil }
        self.init(value: count, isLowerBound: count >= limit)
    }

    private init(value: Int, isLowerBound: Bool) {
        self.value = value
        self.isLowerBound = isLowerBound
    }

    /// The formatted number, with a plus sign for a lower bound: `2,000+`.
    var text: String { NumberFormat.grouped(value) + (isLowerBound ? "+" : "") }

    private static let limit = 2_000
    private static let intersectionLimit = 1_000
}

extension ServiceContext {
    /// Counts the documents that match a query up to a limit, and returns the errors of unreadable documents.
    func count(
        _ query: NormalizedQuery,
        upTo limit: Int
    ) async throws(StatusError) -> (number: Int, damaged: [StatusError]) {
        let count = try NormalizedAggregations([Aggregation(.count(upTo: limit), alias: "count")])
        let result = try await RunAggregationQuery.call(.init(count, of: query), in: self)
        guard case .integer(let number)? = result.results["count"] else {
            throw StatusError(.internal, "The count query returned no number.")
        }
        return (Int(number), result.damaged)
    }
}
