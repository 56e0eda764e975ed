package import DocumentModel
import FirestoreMessages
import HearthAPI
package import UTF8Text

extension Aggregation {
    /// Creates an aggregation from the parts of a message.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the operation is absent.
    package init(_ operation: Operation?, named alias: UTF8Key?) throws(StatusError) {
        guard let operation else {
            throw StatusError(.invalidArgument, "Expected one of count, sum and avg, found none.")
        }
        self.init(operation, alias: alias)
    }
}

/// A validated `StructuredAggregationQuery`.
package struct StructuredAggregationQuery: Sendable {
    let query: NormalizedQuery
    let aggregations: NormalizedAggregations

    package init(_ requested: [Aggregation], of query: StructuredQuery) throws(StatusError) {
        let aggregations: NormalizedAggregations
        do throws(StatusError) {
            aggregations = try NormalizedAggregations(requested)
        } catch {
            throw error.withProtoAggregationPath()
        }
        self.aggregations = aggregations
        self.query = try StatusError.locating(in: "structuredQuery") { () throws(StatusError) in
            let query = try NormalizedQuery(firestore: query, aggregating: aggregations.fields)
            try query.requireAggregatable()
            return query
        }
    }
}
