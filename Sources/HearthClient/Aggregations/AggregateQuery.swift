internal import DocumentModel

/// A query for aggregations over all documents of another query.
public final class AggregateQuery: Sendable {
    /// The underlying query.
    public let query: Query
    /// The distinct aggregations.
    let fields: [AggregateField]

    init(_ query: Query, _ fields: [AggregateField]) {
        self.query = query
        var distinct: [AggregateField] = []
        for field in fields where !distinct.contains(field) { distinct.append(field) }
        self.fields = distinct
    }

    /// Runs the aggregation query.
    ///
    /// - Throws: A ``FirestoreError``: ``FirestoreErrorCode/invalidArgument`` if the query is invalid, or if it has no
    ///   aggregations or more than five; ``FirestoreErrorCode/unavailable`` while the network is disabled.
    nonisolated(nonsending) public func getAggregation(source: AggregateSource) async throws -> AggregateQuerySnapshot {
        let (query, operations) = try firestoreErrors { () throws(StatusError) in
            let operations = try fields.map { field throws(StatusError) in try field.operation() }
            let aggregations = try NormalizedAggregations(operations.map { Aggregation($0) })
            let query = try self.query.definition.get()
            _ = try NormalizedQuery(query, aggregating: aggregations.fields)
            return (query, operations)
        }
        try await self.query.firestore.checkNetwork()
        let response = try await self.query.firestore.read { connection throws(StatusError) in
            try await connection.aggregate(operations, over: query)
        }
        return AggregateQuerySnapshot(self, response.values, damaged: response.damaged.map(FirestoreError.init))
    }

    /// Runs the aggregation query and calls `completion`.
    public func getAggregation(
        source: AggregateSource,
        completion: @escaping (AggregateQuerySnapshot?, (any Error)?) -> Void
    ) {
        query.firestore.callBack(completion) { try await self.getAggregation(source: source) }
    }
}

extension AggregateQuery: Hashable {
    /// Returns whether two queries have the same aggregations over the same query.
    public static func == (left: AggregateQuery, right: AggregateQuery) -> Bool {
        left.query == right.query && left.fields == right.fields
    }

    /// Hashes the components compared by `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(query)
        hasher.combine(fields)
    }
}

/// The source of the results of an aggregation query.
public enum AggregateSource: UInt, Hashable, Sendable {
    /// The server.
    case server = 0
}

extension Query {
    /// A query for the number of documents.
    public var count: AggregateQuery {
        aggregate([.count()])
    }

    /// Returns a query for up to five aggregations over the documents.
    public func aggregate(_ aggregateFields: [AggregateField]) -> AggregateQuery {
        AggregateQuery(self, aggregateFields)
    }
}
