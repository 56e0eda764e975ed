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

    /// Counts the documents that match a query; `nil` if the query cannot be executed.
    init?(_ query: NormalizedQuery, atMost limit: Int, in context: ServiceContext) async {
        guard let count = try? await context.count(query, upTo: limit).number else { return nil }
        self.init(value: count, isLowerBound: count >= limit)
    }

    init(value: Int, isLowerBound: Bool) {
        self.value = value
        self.isLowerBound = isLowerBound
    }

    /// The formatted number, with a plus sign for a lower bound: `2,000+`.
    var text: String { NumberFormat.grouped(value) + (isLowerBound ? "+" : "") }
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
