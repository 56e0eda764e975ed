import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON
import UTF8Text

/// A `:partitionQuery` call.
///
/// The partition points split the documents into partitions of about equal size. All of them are on the first page.
struct PartitionQueryCall: RESTCall {
    private let database: DatabaseName
    private let parent: DocumentPath?

    static let requiredPermission = RunQuery.requiredPermission
    private static let fields: [ProtoField] = .request(
        "structuredQuery",
        "partitionCount",
        "pageSize",
        "pageToken",
        "readTime"
    )

    /// The minimum size of a partition; fewer documents are not worth a separate query.
    private static let minimumPartitionSize = 128
    private static let maximumPartitionPoints = 1_000

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        parent = try requestPath.parent()
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let query = try message.require("structuredQuery") { node throws(StatusError) in
            try StructuredQuery(node, below: parent, in: database).checkedForPartitioning()
        }
        let count = try message.read("partitionCount") { node throws(StatusError) in try node.integerField() } ?? 0
        guard count > 0 else {
            throw StatusError(.invalidArgument, "Expected a positive number, found \(count).").prefixingPath(
                with: "partitionCount"
            )
        }
        let pageSize = try message.read("pageSize") { node throws(StatusError) in try node.countField() } ?? 0
        let token = try message.read("pageToken") { node throws(StatusError) in try node.stringField() } ?? ""
        guard pageSize >= 0, token.utf8.isEmpty else {
            throw StatusError(
                .invalidArgument,
                "Expected a non-negative pageSize and no pageToken: all partitions are on the first page."
            )
        }
        let limit = min(Int(clamping: count), Self.maximumPartitionPoints, pageSize == 0 ? .max : pageSize)
        let consistency = ReadConsistency(
            readTime: try message.read("readTime") { node throws(StatusError) in try node.timestampField() }
        )
        let points = try await partitionPoints(of: query, limit: limit, consistency: consistency, in: context)
        return try .object { writer in
            guard !points.isEmpty else { return }
            writer.key("partitions")
            writer.beginArray()
            for point in points {
                writer.beginObject()
                writer.key("values")
                writer.beginArray()
                writer.write(.reference(point), in: database)
                writer.endArray()
                writer.key("before")
                writer.boolean(true)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    private func partitionPoints(
        of query: StructuredQuery,
        limit: Int,
        consistency: ReadConsistency,
        in context: ServiceContext
    ) async throws(StatusError) -> [DocumentPath] {
        let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "count")])
        let counted = try await RunAggregationQuery.call(
            .init(count, of: try NormalizedQuery(query), consistency: consistency),
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
    /// Returns the query, after checking that it can be partitioned: an unfiltered collection group or recursive query in name order.
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
