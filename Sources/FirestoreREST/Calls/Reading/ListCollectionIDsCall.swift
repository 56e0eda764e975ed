import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// `:listCollectionIds`
struct ListCollectionIDsCall: Call {
    private let parent: DocumentPath?

    static let right = ListCollections.right
    private static let fields: [MessageField] = .request("pageSize", "pageToken", "readTime")

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError) {
        parent = try address.parent()
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let message = try Message(body, fields: Self.fields)
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
    /// The size that a request asks for, as much as is usual when it says nothing or 0.
    init(_ count: Int?) throws(StatusError) {
        guard let count, count != 0 else {
            self = .standard
            return
        }
        guard count > 0 else {
            throw StatusError(.invalidArgument, "Expected a page of at least 1, found \(count).").inside(place: "pageSize")
        }
        self.init(count)
    }
}

extension PageToken {
    /// The token that a request gives; nil when it gives none, or an empty one.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for what is none, and for one of another database.
    init?(_ text: String?, for context: ServiceContext) throws(StatusError) {
        guard let text, !text.utf8.isEmpty else { return nil }
        guard let token = PageToken(text) else {
            throw StatusError(.invalidArgument, "Expected the nextPageToken of a page before.").inside(place: "pageToken")
        }
        try token.check(for: context.database)
        self = token
    }
}
