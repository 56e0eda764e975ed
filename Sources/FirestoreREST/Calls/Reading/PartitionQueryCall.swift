import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// `:partitionQuery`
///
/// The places are such that about as many documents are between each two of them. All of them are on the first page.
struct PartitionQueryCall: Call {
    private let database: DatabaseName
    private let parent: DocumentPath?

    static let right = RunQuery.right
    private static let fields: [MessageField] = .request(
        "structuredQuery",
        "partitionCount",
        "pageSize",
        "pageToken",
        "readTime"
    )

    /// How many documents a part has at least: fewer are not worth a query of their own.
    private static let leastDocuments = 128
    /// How many places there are at most.
    private static let mostPlaces = 1_000

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError) {
        database = address.database
        parent = try address.parent()
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let message = try Message(body, fields: Self.fields)
        let query = try message.require("structuredQuery") { node throws(StatusError) in
            try Query(node, below: parent, in: database).partitioned()
        }
        let count = try message.read("partitionCount") { node throws(StatusError) in try node.integerField() } ?? 0
        guard count > 0 else {
            throw StatusError(.invalidArgument, "Expected a number above 0, found \(count).").inside(place: "partitionCount")
        }
        let pageSize = try message.read("pageSize") { node throws(StatusError) in try node.countField() } ?? 0
        let token = try message.read("pageToken") { node throws(StatusError) in try node.stringField() } ?? ""
        guard pageSize >= 0, token.utf8.isEmpty else {
            throw StatusError(.invalidArgument, "Expected a pageSize of 0 or more, and no pageToken, since none is ever given.")
        }
        let most = min(Int(clamping: count), Self.mostPlaces, pageSize == 0 ? .max : pageSize)
        let point = ReadPoint(readTime: try message.read("readTime") { node throws(StatusError) in try node.timestampField() })
        let places = try await places(of: query, atMost: most, at: point, in: context)
        return try .object { writer in
            guard !places.isEmpty else { return }
            writer.key("partitions")
            writer.beginArray()
            for place in places {
                writer.beginObject()
                writer.key("values")
                writer.beginArray()
                writer.write(.reference(place), in: database)
                writer.endArray()
                writer.key("before")
                writer.boolean(true)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    private func places(
        of query: Query,
        atMost most: Int,
        at point: ReadPoint,
        in context: ServiceContext
    ) async throws(StatusError) -> [DocumentPath] {
        let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "count")])
        let counted = try await AggregateQuery.call(.init(count, of: try NormalizedQuery(query), at: point), in: context)
        guard case .integer(let documents)? = counted.results["count"] else { return [] }
        let distance = max(Self.leastDocuments, (Int(documents) + most) / (most + 1))
        var places: [DocumentPath] = []
        while places.count < most {
            var next = query
            next.offset = distance
            next.limit = .first(1)
            next.projection = [.documentName]
            next.start = places.last.map { Query.Cursor([.reference($0)], isInclusive: true) }
            let found = try await RunQuery.call(
                .init(NormalizedQuery(next), at: ReadPoint(readTime: counted.readTime)),
                in: context
            )
            guard let place = found.documents.first?.path else { break }
            places.append(place)
        }
        return places
    }
}

extension Query {
    /// Checks that the query is one that can be parted: all below a document or of a collection group, in the order of names.
    fileprivate func partitioned() throws(StatusError) -> Query {
        if case .collection = source {
            throw StatusError(.invalidArgument, "Expected a query with allDescendants.")
        }
        guard filter == nil, start == nil, end == nil, offset == 0, limit == nil, vectorSearch == nil,
            orders.isEmpty || orders == [Order(.field(.documentName))]
        else {
            throw StatusError(
                .invalidArgument,
                "Expected a query in the order of __name__ upwards, without filters, cursors, offset, limit and findNearest."
            )
        }
        return self
    }
}
