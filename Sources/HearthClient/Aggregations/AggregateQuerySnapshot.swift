internal import DocumentModel
public import Foundation

/// Numbers that were made of all documents of a query, as they were at one time.
public final class AggregateQuerySnapshot: Sendable {
    /// What was asked.
    public let query: AggregateQuery
    /// The documents that could not be read, each with what is wrong and where. They are in none of the numbers.
    public let damaged: [FirestoreError]
    /// In the order of the query's fields.
    private let values: [Value]

    init(_ query: AggregateQuery, _ values: [Value], damaged: [FirestoreError]) {
        self.query = query
        self.values = values
        self.damaged = damaged
    }

    /// How many documents there are; 0 when that was not asked for.
    public var count: NSNumber {
        guard case .integer(let count)? = value(of: .count()) else { return 0 }
        return NSNumber(value: count)
    }

    /// One of the numbers that were asked for: an `Int` or a `Double`. `NSNull` for the mean of none, and for a number that was
    /// not asked for.
    public func get(_ aggregateField: AggregateField) -> Any {
        (value(of: aggregateField) ?? .null).any(in: query.query.firestore)
    }

    private func value(of field: AggregateField) -> Value? {
        query.fields.firstIndex(of: field).map { values[$0] }
    }
}

extension AggregateQuerySnapshot: Hashable {
    /// Whether both are of the same query, and have the same numbers.
    public static func == (left: AggregateQuerySnapshot, right: AggregateQuerySnapshot) -> Bool {
        left.query == right.query && left.values == right.values
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(query)
        hasher.combine(values)
    }
}
