package import DocumentModel
import DocumentStore
import FirestoreMessages
package import HearthAPI
import UTF8Text

/// A `PartitionQuery` request: splits the documents into partitions of about equal size.
package struct PartitionQueryRequest: Sendable {
    private let query: StructuredQuery
    /// The maximum number of partition points.
    private let limit: Int
    private let readTime: Timestamp?

    package static let requiredPermission = Permission.reader

    /// The minimum size of a partition; fewer documents are not worth a separate query.
    private static let minimumPartitionSize = 128
    private static let maximumPartitionPoints = 1_000

    /// Creates a request.
    ///
    /// - Parameter count: The maximum number of partition points.
    package init(
        _ query: StructuredQuery,
        count: Int64,
        pageSize: Int,
        pageToken: String,
        readTime: Timestamp?
    ) throws(StatusError) {
        self.query = try StatusError.locating(in: "structuredQuery") { () throws(StatusError) in
            try query.checkedForPartitioning()
        }
        guard count > 0 else {
            throw StatusError(.invalidArgument, "Expected a positive number, found \(count).").prefixingPath(
                with: "partitionCount"
            )
        }
        guard pageSize >= 0, pageToken.utf8.isEmpty else {
            throw StatusError(
                .invalidArgument,
                "Expected a non-negative pageSize and no pageToken: all partitions are on the first page."
            )
        }
        limit = min(Int(clamping: count), Self.maximumPartitionPoints, pageSize == 0 ? .max : pageSize)
        self.readTime = readTime
    }

    /// Returns the first documents of all partitions but the first. All of them are on one page.
    package func respond(in context: ServiceContext) async throws(StatusError) -> [DocumentPath] {
        let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "count")])
        let counted = try await RunAggregationQuery.call(
            .init(count, of: try NormalizedQuery(query), consistency: ReadConsistency(readTime: readTime)),
            in: context
        )
        guard case .integer(let documents)? = counted.results["count"] else { return [] }
        let partitionSize = max(Self.minimumPartitionSize, (Int(documents) + limit) / (limit + 1))
        var points: [DocumentPath] = []
        while points.count < limit {
            var next = query
            next.offset = partitionSize
            next.limit = .first(1)
            next.projection = [.documentName]
            next.start = points.last.map { StructuredQuery.Cursor([.reference($0)], isInclusive: true) }
            let found = try await RunQuery.call(
                .init(NormalizedQuery(next), consistency: ReadConsistency(readTime: counted.readTime)),
                in: context
            )
            guard let path = found.documents.first?.path else { break }
            points.append(path)
        }
        return points
    }
}

extension StructuredQuery {
    /// Returns the query, after checking that it can be partitioned: an unfiltered collection group or recursive query in name
    /// order.
    fileprivate func checkedForPartitioning() throws(StatusError) -> StructuredQuery {
        if case .collection = source {
            throw StatusError(.invalidArgument, "Expected a query with allDescendants.")
        }
        guard filter == nil, start == nil, end == nil, offset == 0, limit == nil, vectorSearch == nil,
            orders.isEmpty || orders == [Order(.field(.documentName))]
        else {
            throw StatusError(
                .invalidArgument,
                "Expected a query ordered by __name__ ascending, without filters, cursors, offset, limit or findNearest."
            )
        }
        return self
    }
}
