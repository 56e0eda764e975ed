import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON
import UTF8Text

/// A `GET …/documents[/COLLECTION/DOCUMENT]/COLLECTION` call. Without a collection, it lists all child collections of the parent.
struct ListDocumentsCall: RESTCall {
    static let name = "ListDocuments"
    private let database: DatabaseName
    private let request: ListDocumentsRequest

    static let requiredPermission = ListDocumentsRequest.requiredPermission
    static let parameters: [ProtoField] = .parameters(
        "mask.fieldPaths",
        "orderBy",
        "pageSize",
        "pageToken",
        "readTime",
        "recursive",
        "showMissing",
        "transaction"
    )
    static let acceptsBody = false
    static let expectedResponseBytes = ListDocumentsRequest.expectedResponseBytes

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        var request: ListDocumentsRequest
        if let id = requestPath.segments.last, id.byteCount > 0 {
            let path = try requestPath.name.collection()
            request = ListDocumentsRequest(below: path.parent, path.id)
        } else {
            let parent = ResourceName(database, requestPath.segments.dropLast())
            request = ListDocumentsRequest(below: try parent.parent(), nil)
        }
        request.mask = try parameters.mask("mask.fieldPaths")
        request.orders =
            try parameters.string("orderBy").map { text throws(StatusError) in try [StructuredQuery.Order](text) } ?? []
        request.pageSize = try PageSize(requested: parameters.count("pageSize"))
        request.pageToken = try parameters.string("pageToken")
        request.showMissing = try parameters.boolean("showMissing") ?? false
        request.isRecursive = try parameters.boolean("recursive") ?? false
        request.consistency = try ReadConsistency(parameters)
        try request.validate()
        self.request = request
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let page = try await request.respond(in: context)
        return try .object(damagedCount: page.damagedCount) { writer throws(StatusError) in
            if !page.entries.isEmpty {
                writer.key("documents")
                writer.beginArray()
                for entry in page.entries { try writer.write(entry, in: database) }
                writer.endArray()
            }
            if let next = page.next {
                writer.key("nextPageToken")
                writer.string(next)
            }
        }
    }
}
