import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON
import UTF8Text

/// A `:listCollectionIds` call.
struct ListCollectionIDsCall: RESTCall {
    static let name = "ListCollectionIds"
    private let parent: DocumentPath?

    static let requiredPermission = ListCollectionIDsRequest.requiredPermission
    private static let fields: [ProtoField] = .request("pageSize", "pageToken", "readTime")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        parent = try requestPath.name.parent()
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let request = ListCollectionIDsRequest(
            below: parent,
            pageSize: try PageSize(requested: message.read("pageSize") { node throws(StatusError) in try node.countField() }),
            pageToken: try message.read("pageToken") { node throws(StatusError) in try node.stringField() },
            readTime: try message.read("readTime") { node throws(StatusError) in try node.timestampField() }
        )
        let page = try await request.respond(in: context)
        return try .object(damagedCount: page.damagedCount) { writer in
            if !page.ids.isEmpty {
                writer.key("collectionIds")
                writer.beginArray()
                for id in page.ids { writer.string(id.key.string) }
                writer.endArray()
            }
            if let next = page.next {
                writer.key("nextPageToken")
                writer.string(next)
            }
        }
    }
}
