package import DocumentModel
import DocumentStore
import FirestoreMessages
package import HearthAPI
import UTF8Text

/// A `ListCollectionIds` request.
package struct ListCollectionIDsRequest: Sendable {
    private let parent: DocumentPath?
    private let pageSize: PageSize
    private let pageToken: String?
    private let readTime: Timestamp?

    package static let requiredPermission = ListCollections.requiredPermission

    /// Creates a request.
    ///
    /// - Parameter parent: The document or root whose collections are listed.
    package init(below parent: DocumentPath?, pageSize: PageSize, pageToken: String?, readTime: Timestamp?) {
        self.parent = parent
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.readTime = readTime
    }

    /// A page of the list.
    package struct Page: Sendable {
        package let ids: [CollectionID]
        /// The token of the next page, or `nil` on the last page.
        package let next: String?
        package let damagedCount: Int
    }

    package func respond(in context: ServiceContext) async throws(StatusError) -> Page {
        let page = try await ListCollections.call(
            .init(
                parent: parent,
                pageSize: pageSize,
                after: try PageToken(pageToken, for: context)
                    .map { token throws(StatusError) in try CollectionID(token.last.string) },
                readTime: readTime
            ),
            in: context
        )
        return Page(
            ids: page.collections,
            next: page.next.map { PageToken(after: $0.key, in: context.database).text },
            damagedCount: page.damaged.count
        )
    }
}

extension PageSize {
    /// Creates the requested page size, or the default if the count is `nil` or 0.
    package init(requested count: Int?) throws(StatusError) {
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
