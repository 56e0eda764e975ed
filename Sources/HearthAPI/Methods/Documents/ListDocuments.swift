package import DocumentModel
import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.list`: lists the documents of a collection.
package enum ListDocuments: RPCMethod {
    /// The parameters of `documents.list`.
    package struct Params: Sendable {
        package var collection: CollectionPath
        package var pageSize: PageSize
        /// The ID that the page starts after, or `nil` for the first page.
        package var after: DocumentPath.ID?
        /// The token that ``after`` is from, or `nil`.
        var pageToken: PageToken?
        /// The fields to return, or `nil` for all.
        package var mask: [FieldPath]?
        /// True to include missing documents that have subcollections.
        package var showMissing: Bool
        package var consistency: ReadConsistency
        /// The size of the fields at which a page ends; `nil` for the server's limit.
        package var maximumBytes: Int?

        package init(
            collection: CollectionPath,
            pageSize: PageSize = .standard,
            after: DocumentPath.ID? = nil,
            mask: [FieldPath]? = nil,
            showMissing: Bool = false,
            consistency: ReadConsistency = ReadConsistency()
        ) {
            self.collection = collection
            self.pageSize = pageSize
            self.after = after
            self.mask = mask
            self.showMissing = showMissing
            self.consistency = consistency
        }
    }

    /// A page of a collection.
    package struct Result: Sendable {
        /// The documents in ID order.
        package var documents: [ListedDocument] = []
        /// The ID that the next page starts after, or `nil` on the last page.
        package var next: DocumentPath.ID?
        /// Unreadable documents in the range of the page.
        package var damaged: [StatusError] = []
        /// The database, or `nil` for the default one.
        var database: DatabaseID?
    }

    private static let collection = Parameter<CollectionPath>(
        ListParameterKeys.collection,
        "The collection to list. A collection that does not exist is empty."
    )
    private static let pageSize = Parameter<PageSize?>(
        ListParameterKeys.pageSize,
        "The maximum number of documents, at most 1000. Default: 100."
    )
    private static let pageToken = Parameter<PageToken?>(ListParameterKeys.pageToken, "The nextPageToken of the previous page.")
    private static let mask = Parameter<[FieldPath]?>(ListParameterKeys.mask, "The fields to return. Default: all fields.")
    private static let showMissing = Parameter<Bool?>(
        ListParameterKeys.showMissing,
        "Whether to include missing documents that have subcollections, as {path} only."
    )

    package static let name: UTF8Key = "documents.list"
    package static let summary = "Lists the documents of a collection in ID order."
    package static let requiredPermission = Permission.readDocuments
    package static let parameters: [any ParameterDescription] =
        [collection, pageSize, pageToken, mask, showMissing] + ReadConsistency.parameters
    package static let result = ResultDescription(
        "page",
        .page(
            of: PageKeys.documents,
            .oneOf([.document, .missingDocument]),
            "The documents. A page of large documents may have fewer than requested.",
            .damaged("Unreadable files and folders in the range of the page; absent if there are none.")
        ),
        "A page of the collection."
    )
    /// A full page and the document that exceeds its byte limit.
    package static let expectedResponseBytes = ServiceLimits().maximumPageBytes + DocumentLimits.maximumDocumentBytes
    package static let errors =
        [
            ErrorDescription(status: .unavailable, "The collection cannot currently be read.")
        ] + .readErrors
    package static let examples = [
        RPCExample(
            "all books",
            params: #"{"collection": "books", "mask": ["title"]}"#,
            result: #"""
                {
                    "documents": [
                        {
                            "path": "books/hitchhiker",
                            "fields": {"title": "The Hitchhiker's Guide to the Galaxy"},
                            "createTime": "2024-02-29T12:00:00.000000Z",
                            "updateTime": "2024-02-29T12:00:00.000000Z"
                        },
                        {
                            "path": "books/restaurant",
                            "fields": {"title": "The Restaurant at the End of the Universe"},
                            "createTime": "2024-02-29T12:00:00.000000Z",
                            "updateTime": "2024-02-29T12:00:00.000000Z"
                        }
                    ]
                }
                """#
        ),
        RPCExample(
            "the first book",
            params: #"{"collection": "books", "pageSize": 1, "mask": []}"#,
            result: #"""
                {
                    "documents": [
                        {
                            "path": "books/hitchhiker",
                            "fields": {},
                            "createTime": "2024-02-29T12:00:00.000000Z",
                            "updateTime": "2024-02-29T12:00:00.000000Z"
                        }
                    ],
                    "nextPageToken": "AWhpdGNoaGlrZXI"
                }
                """#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        let token = try arguments[pageToken]
        var params = Params(
            collection: try arguments[collection],
            pageSize: try arguments[pageSize] ?? .standard,
            after: try token.map { token in
                try arguments.location(of: pageToken).locatingErrors { () throws(StatusError) in
                    try DocumentPath.ID(token.last.string)
                }
            },
            mask: try arguments[mask],
            showMissing: try arguments[showMissing] ?? false,
            consistency: try ReadConsistency(from: arguments)
        )
        params.pageToken = token
        return params
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> Result {
        try params.pageToken?.validate(for: context.database)
        let limits = context.server.limits
        let maximumBytes = params.maximumBytes ?? limits.maximumPageBytes
        let pageSize = min(params.pageSize.count, limits.maximumPageSize)
        let view = try await ReadView(params.consistency, in: context)
        var scan = try view.scan(
            params.collection,
            after: params.after,
            pageSize: pageSize,
            includingMissing: params.showMissing
        )
        var page = Result()
        page.database = context.database
        var bytes = 0
        while !scan.isAtEnd {
            let count = pageSize - page.documents.count
            let batch = try await view.mappingHistoryErrors { () async throws(StatusError) in
                try await scan.nextBatch(limit: count)
            }
            for (index, entry) in batch.documents.enumerated() {
                page.documents.append(try entry.masked(params.mask))
                bytes += entry.byteCount
                let isLast = index == batch.documents.count - 1 && scan.isAtEnd
                if !isLast, page.documents.count == pageSize || bytes >= maximumBytes {
                    page.next = entry.path.id
                    page.damaged += batch.damaged(upTo: entry.path.id)
                    return page
                }
            }
            page.damaged += batch.damaged
        }
        return page
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        DocumentListPage(
            documents: result.documents,
            nextPageToken: result.next.map { PageToken(after: $0.key, in: result.database).text },
            damaged: result.damaged
        )
        .write(to: &writer)
    }
}

extension ListedDocument {
    fileprivate func masked(_ mask: [FieldPath]?) throws(StatusError) -> ListedDocument {
        guard let mask, case .document(let document) = self else { return self }
        return .document(try document.masked(mask))
    }
}

extension DocumentPage {
    /// Returns the damaged documents up to the last ID of a page; the next page reports the others.
    fileprivate func damaged(upTo last: DocumentPath.ID) -> [StatusError] {
        damaged.filter { error in
            guard let path = error.path, let path = try? DocumentPath(path) else { return true }
            return path.id <= last
        }
    }
}
