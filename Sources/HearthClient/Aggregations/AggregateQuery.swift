internal import DocumentModel

/// A question for numbers that are made of all documents of a query.
public final class AggregateQuery: Sendable {
    /// The query.
    public let query: Query
    /// Each number once.
    let fields: [AggregateField]

    init(_ query: Query, _ fields: [AggregateField]) {
        self.query = query
        var distinct: [AggregateField] = []
        for field in fields where !distinct.contains(field) { distinct.append(field) }
        self.fields = distinct
    }

    /// Asks for the numbers.
    ///
    /// - Throws: A ``FirestoreError``: ``FirestoreErrorCode/invalidArgument`` for a mistake in the query, for no number, and
    ///   for more than five.
    nonisolated(nonsending) public func getAggregation(source: AggregateSource) async throws -> AggregateQuerySnapshot {
        let (query, operations) = try firestoreErrors { () throws(StatusError) in
            let operations = try fields.map { field throws(StatusError) in try field.operation() }
            let aggregations = try NormalizedAggregations(operations.map { Aggregation($0) })
            let query = try self.query.definition.get()
            _ = try NormalizedQuery(query, aggregating: aggregations.fields)
            return (query, operations)
        }
        let answer = try await self.query.firestore.read { connection throws(StatusError) in
            try await connection.numbers(operations, of: query)
        }
        return AggregateQuerySnapshot(self, answer.values, damaged: answer.damaged.map(FirestoreError.init))
    }

    /// Asks for the numbers, and calls back.
    public func getAggregation(
        source: AggregateSource,
        completion: @escaping (AggregateQuerySnapshot?, (any Error)?) -> Void
    ) {
        query.firestore.callBack(completion) { try await self.getAggregation(source: source) }
    }
}

extension AggregateQuery: Hashable {
    /// Whether both ask for the same numbers of the same query.
    public static func == (left: AggregateQuery, right: AggregateQuery) -> Bool {
        left.query == right.query && left.fields == right.fields
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(query)
        hasher.combine(fields)
    }
}

/// Where the numbers come from.
public enum AggregateSource: Hashable, Sendable {
    /// From the server.
    case server
}

extension Query {
    /// A question for how many documents there are.
    public var count: AggregateQuery {
        aggregate([.count()])
    }

    /// A question for up to five numbers that are made of the documents.
    public func aggregate(_ aggregateFields: [AggregateField]) -> AggregateQuery {
        AggregateQuery(self, aggregateFields)
    }
}
