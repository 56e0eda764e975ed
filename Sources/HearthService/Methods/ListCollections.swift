package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `collections.list`: the collections at the top of the database, or below a document.
package enum ListCollections: RPCMethod {
    package struct Params: Sendable {
        /// The document whose subcollections are listed; nil for the top of the database.
        package var parent: DocumentPath?
        package var pageSize: PageSize
        /// Where the page begins: behind this ID, or at the beginning when nil.
        package var after: CollectionID?
        /// What ``after`` was taken from; nil when that was not a token.
        var pageToken: PageToken?
        /// As of when; now when nil.
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
        "parent",
        "The document to look below; the top of the database when absent."
    )
    private static let pageSize = Parameter<PageSize?>(
        "pageSize",
        "How many collections at most; 100 when absent, and never more than 1000."
    )
    private static let pageToken = Parameter<PageToken?>("pageToken", "The nextPageToken of the page before.")

    package static let name: UTF8Key = "collections.list"
    package static let summary =
        "Lists collections: those that hold a document, or have one anywhere below them, and that the caller's key is for."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = [parent, pageSize, pageToken, ReadPoint.readTime]
    package static let result = ResultDescription(
        "page",
        .page(
            of: "collections",
            .string(),
            "The collections' IDs, in the order of their bytes.",
            .damaged(
                "Files and folders among these that are no collections; absent when there are none. All are on the first page."
            )
        ),
        "A page of the collections."
    )
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The path breaks a rule, or the readTime is yet to come."),
        ErrorDescription(status: .failedPrecondition, "The history that the readTime needs is not kept any more."),
        ErrorDescription(status: .resourceExhausted, "Too much was written since the readTime to tell what was there."),
        ErrorDescription(status: .unavailable, "The collections cannot be read now."),
    ]
    package static let examples = [
        RPCExample("at the top", params: "{}", result: #"{"collections": ["books", "samples"]}"#),
        RPCExample("below a book", params: #"{"parent": "books/hitchhiker"}"#, result: #"{"collections": ["reviews"]}"#),
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        let token = try arguments[pageToken]
        var params = Params(
            parent: try arguments[parent],
            pageSize: try arguments[pageSize] ?? .standard,
            after: try token.map { token in
                try arguments.location(of: pageToken).model { () throws(StatusError) in try CollectionID(token.last.string) }
            },
            readTime: try arguments[ReadPoint.readTime]
        )
        params.pageToken = token
        return params
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> CollectionPage {
        try params.pageToken?.check(for: context.database)
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
        writer.beginObject()
        writer.key("collections")
        writer.beginArray()
        for collection in result.collections {
            writer.string(collection.key.string)
        }
        writer.endArray()
        if let next = result.next {
            writer.key("nextPageToken")
            writer.string(PageToken(after: next.key, in: result.database).text)
        }
        writer.damaged(result.damaged.map(DamagedDocument.init))
        writer.endObject()
    }
}
