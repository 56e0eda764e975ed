internal import DocumentModel
public import Foundation

/// The results of an aggregation query as of one point in time.
public final class AggregateQuerySnapshot: Sendable {
    /// The aggregation query.
    public let query: AggregateQuery
    /// Errors for documents that could not be read and are excluded from the results.
    public let damaged: [FirestoreError]
    /// The results, in the order of the query's aggregations.
    private let values: [Value]

    init(_ query: AggregateQuery, _ values: [Value], damaged: [FirestoreError]) {
        self.query = query
        self.values = values
        self.damaged = damaged
    }

    /// The number of documents; 0 if the query has no count aggregation.
    public var count: NSNumber {
        guard case .integer(let count)? = value(of: .count()) else { return 0 }
        return NSNumber(value: count)
    }

    /// Returns the result of an aggregation: an `NSNumber`; `NSNull` for an average over no values, and for an
    /// aggregation that is not part of the query.
    public func get(_ aggregateField: AggregateField) -> Any {
        (value(of: aggregateField) ?? .null).any(in: query.query.firestore)
    }

    private func value(of field: AggregateField) -> Value? {
        query.fields.firstIndex(of: field).map { values[$0] }
    }
}

extension AggregateQuerySnapshot: Hashable {
    /// Returns whether two snapshots have the same query and results.
    public static func == (left: AggregateQuerySnapshot, right: AggregateQuerySnapshot) -> Bool {
        left.query == right.query && left.values == right.values
    }

    /// Hashes the components compared by `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(query)
        hasher.combine(values)
    }
}
