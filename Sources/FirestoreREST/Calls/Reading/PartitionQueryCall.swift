import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON
import UTF8Text

/// A `:partitionQuery` call.
struct PartitionQueryCall: RESTCall {
    static let name = "PartitionQuery"
    private let database: DatabaseName
    private let parent: DocumentPath?

    static let requiredPermission = PartitionQueryRequest.requiredPermission
    private static let fields: [ProtoField] = .request(
        "structuredQuery",
        "partitionCount",
        "pageSize",
        "pageToken",
        "readTime"
    )

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        parent = try requestPath.name.parent()
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let request = try PartitionQueryRequest(
            message.require("structuredQuery") { node throws(StatusError) in
                try StructuredQuery(node, below: parent, in: database)
            },
            count: message.read("partitionCount") { node throws(StatusError) in try node.integerField() } ?? 0,
            pageSize: message.read("pageSize") { node throws(StatusError) in try node.countField() } ?? 0,
            pageToken: message.read("pageToken") { node throws(StatusError) in try node.stringField() } ?? "",
            readTime: message.read("readTime") { node throws(StatusError) in try node.timestampField() }
        )
        let points = try await request.respond(in: context)
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
}
