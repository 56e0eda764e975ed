package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `collections.list`: lists the root collections, or the subcollections of a document.
package enum ListCollections: RPCMethod {
    /// The parameters of `collections.list`.
    package struct Params: Sendable {
        /// The parent document, or `nil` for the root collections.
        package var parent: DocumentPath?
        package var pageSize: PageSize
        /// The ID that the page starts after, or `nil` for the first page.
        package var after: CollectionID?
        /// The token that ``after`` is from, or `nil`.
        var pageToken: PageToken?
        /// The point in time to read at, or `nil` for the latest state.
        package var readTime: Timestamp?

        package init(
            parent: DocumentPath? = nil,
            pageSize: PageSize = .standard,
            after: CollectionID? = nil,
            readTime: Timestamp? = nil
        ) {
            self.parent = parent
            self.pageSize = pageSize
            self.after = after
            self.readTime = readTime
        }
    }

    private static let parent = Parameter<DocumentPath?>(
        ListParameterKeys.parent,
        "The parent document. Default: the root of the database."
    )
    private static let pageSize = Parameter<PageSize?>(
        ListParameterKeys.pageSize,
        "The maximum number of collections, at most 1000. Default: 100."
    )
    private static let pageToken = Parameter<PageToken?>(ListParameterKeys.pageToken, "The nextPageToken of the previous page.")

    package static let name: UTF8Key = "collections.list"
    package static let summary =
        "Lists the collections that contain documents or subcollections, limited to those that the caller's key can access."
    package static let requiredPermission = Permission.reader
    package static let parameters: [any ParameterDescription] = [parent, pageSize, pageToken, ReadConsistency.readTime]
    package static let result = ResultDescription(
        "page",
        .page(
            of: PageKeys.collections,
            .string(),
            "The collection IDs, in byte order.",
            .damaged(
                "Files and folders that are not collections; absent if there are none. All are on the first page."
            )
        ),
        "A page of the collections."
    )
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The path is invalid, or the readTime is in the future."),
        ErrorDescription(status: .failedPrecondition, "The history at the readTime is no longer retained."),
        ErrorDescription(status: .resourceExhausted, "Too many changes since the readTime to reconstruct the list."),
        ErrorDescription(status: .unavailable, "The collections cannot currently be read."),
    ]
    package static let examples = [
        RPCExample("root collections", params: "{}", result: #"{"collections": ["books", "samples"]}"#),
        RPCExample(
            "subcollections of a book",
            params: #"{"parent": "books/hitchhiker"}"#,
            result: #"{"collections": ["reviews"]}"#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        let token = try arguments[pageToken]
        var params = Params(
            parent: try arguments[parent],
            pageSize: try arguments[pageSize] ?? .standard,
            after: try token.map { token in
                try arguments.location(of: pageToken).locatingErrors { () throws(StatusError) in
                    try CollectionID(token.last.string)
                }
            },
            readTime: try arguments[ReadConsistency.readTime]
        )
        params.pageToken = token
        return params
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> CollectionPage {
        try params.pageToken?.validate(for: context.database)
        var page = try await context.store.collections(
            under: params.parent,
            after: params.after,
            limit: min(params.pageSize.count, context.server.limits.maximumPageSize),
            readTime: params.readTime
        )
        page.database = context.database
        return page
    }

    package static func write(_ result: CollectionPage, to writer: inout JSONWriter) {
        CollectionListPage(
            collections: result.collections,
            nextPageToken: result.next.map { PageToken(after: $0.key, in: result.database).text },
            damaged: result.damaged
        )
        .write(to: &writer)
    }
}
