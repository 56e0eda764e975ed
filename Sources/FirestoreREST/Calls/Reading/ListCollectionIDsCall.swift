import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON
import UTF8Text

/// A `:listCollectionIds` call.
struct ListCollectionIDsCall: RESTCall {
    private let parent: DocumentPath?

    static let requiredPermission = ListCollections.requiredPermission
    private static let fields: [ProtoField] = .request("pageSize", "pageToken", "readTime")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        parent = try requestPath.parent()
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let page = try await ListCollections.call(
            .init(
                parent: parent,
                pageSize: try PageSize(message.read("pageSize") { node throws(StatusError) in try node.countField() }),
                after: try PageToken(
                    message.read("pageToken") { node throws(StatusError) in try node.stringField() },
                    for: context
                )
                .map { token throws(StatusError) in try CollectionID(token.last.string) },
                readTime: try message.read("readTime") { node throws(StatusError) in try node.timestampField() }
            ),
            in: context
        )
        return try .object(damagedCount: page.damaged.count) { writer in
            if !page.collections.isEmpty {
                writer.key("collectionIds")
                writer.beginArray()
                for collection in page.collections { writer.string(collection.key.string) }
                writer.endArray()
            }
            if let next = page.next {
                writer.key("nextPageToken")
                writer.string(PageToken(after: next.key, in: context.database).text)
            }
        }
    }
}

extension PageSize {
    /// Creates the requested page size, or the default if the count is `nil` or 0.
    init(_ count: Int?) throws(StatusError) {
        guard let count, count != 0 else {
            self = .standard
            return
        }
        guard count > 0 else {
            throw StatusError(.invalidArgument, "Expected a positive page size, found \(count).").prefixingPath(with: "pageSize")
        }
        self.init(count)
    }
}

extension PageToken {
    /// Decodes the page token of a request, or returns `nil` if it is absent or empty.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for an invalid token and for one from another database.
    init?(_ text: String?, for context: ServiceContext) throws(StatusError) {
        guard let text, !text.utf8.isEmpty else { return nil }
        guard let token = PageToken(text) else {
            throw StatusError(.invalidArgument, "Expected the nextPageToken of a previous page.").prefixingPath(with: "pageToken")
        }
        try token.validate(for: context.database)
        self = token
    }
}
