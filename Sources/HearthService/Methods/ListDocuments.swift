package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `documents.list`: the documents of a collection, page by page.
package enum ListDocuments: RPCMethod {
    package struct Params: Sendable {
        package var collection: CollectionPath
        package var pageSize: PageSize
        /// Where the page begins: behind this ID, or at the beginning when nil.
        package var after: DocumentID?
        /// What ``after`` was taken from; nil when that was not a token.
        var pageToken: PageToken?
        /// Only these fields; all of them when nil.
        package var mask: [FieldPath]?
        /// Whether to list also the documents that do not exist but have documents below them.
        package var showMissing: Bool
        package var point: ReadPoint

        package init(
            collection: CollectionPath,
            pageSize: PageSize = .standard,
            after: DocumentID? = nil,
            mask: [FieldPath]? = nil,
            showMissing: Bool = false,
            at point: ReadPoint = ReadPoint()
        ) {
            self.collection = collection
            self.pageSize = pageSize
            self.after = after
            self.mask = mask
            self.showMissing = showMissing
            self.point = point
        }
    }

    package struct Result: Sendable {
        /// The documents in ID order.
        package var documents: [ListedDocument] = []
        /// The last ID of the page when there is more: the next page begins after it.
        package var next: DocumentID?
        /// What lies among these documents and cannot be read.
        package var damaged: [DamagedDocument] = []
        /// The database that they are in; nil for the default one.
        var database: DatabaseID?
    }

    private static let collection = Parameter<CollectionPath>(
        "collection",
        "The collection to list; one that does not exist is empty."
    )
    private static let pageSize = Parameter<PageSize?>(
        "pageSize",
        "How many documents at most; 100 when absent, and never more than 1000."
    )
    private static let pageToken = Parameter<PageToken?>("pageToken", "The nextPageToken of the page before.")
    private static let mask = Parameter<[FieldPath]?>("mask", "Only these fields; all of them when absent.")
    private static let showMissing = Parameter<Bool?>(
        "showMissing",
        "true: list also the documents that do not exist but have subcollections, as {path} alone."
    )

    package static let name: UTF8Key = "documents.list"
    package static let summary = "Lists the documents of a collection in ID order, page by page."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] =
        [collection, pageSize, pageToken, mask, showMissing] + ReadPoint.parameters
    package static let result = ResultDescription(
        "page",
        .page(
            of: "documents",
            .oneOf([.document, .missingDocument]),
            "The documents. A page of large documents may hold fewer than asked for.",
            .damaged("Files and folders among these that cannot be read; absent when there are none.")
        ),
        "A page of the collection."
    )
    /// A page, and the document that ends it.
    package static let expectedAnswerBytes = ServiceLimits().maximumPageBytes + DocumentLimits.maximumDocumentBytes
    package static let errors =
        [
            ErrorDescription(status: .unavailable, "The collection cannot be read now.")
        ] + .ofReads
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
                try arguments.location(of: pageToken).model { () throws(StatusError) in try DocumentID(token.last.string) }
            },
            mask: try arguments[mask],
            showMissing: try arguments[showMissing] ?? false,
            at: try ReadPoint(from: arguments)
        )
        params.pageToken = token
        return params
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> Result {
        try params.pageToken?.check(for: context.database)
        let limits = context.server.limits
        let pageSize = min(params.pageSize.count, limits.maximumPageSize)
        let view = try await ReadView(params.point, in: context)
        var scan = try view.scan(params.collection, after: params.after, includingMissing: params.showMissing)
        var page = Result()
        page.database = context.database
        var bytes = 0
        while !scan.isAtEnd {
            let count = pageSize - page.documents.count
            let step = try await view.reading { () async throws(StatusError) in try await scan.next(atMost: count) }
            for (index, entry) in step.documents.enumerated() {
                page.documents.append(try entry.masked(params.mask))
                bytes += entry.byteCount
                let isLast = index == step.documents.count - 1 && scan.isAtEnd
                if !isLast, page.documents.count == pageSize || bytes >= limits.maximumPageBytes {
                    page.next = entry.path.id
                    page.damaged += step.damaged(upTo: entry.path.id)
                    return page
                }
            }
            page.damaged += step.damaged.map(DamagedDocument.init)
        }
        return page
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("documents")
        writer.beginArray()
        for document in result.documents {
            document.write(to: &writer)
        }
        writer.endArray()
        if let next = result.next {
            writer.key("nextPageToken")
            writer.string(PageToken(after: next.key, in: result.database).text)
        }
        writer.damaged(result.damaged)
        writer.endObject()
    }
}

extension ListedDocument {
    fileprivate func masked(_ mask: [FieldPath]?) throws(StatusError) -> ListedDocument {
        guard let mask, case .document(let document) = self else { return self }
        return .document(try document.masked(mask))
    }
}

extension DocumentPage {
    /// The damaged documents that a page ending with an ID reports; those behind it are reported by the next page.
    fileprivate func damaged(upTo last: DocumentID) -> [DamagedDocument] {
        damaged.filter { error in
            guard let path = error.path, let path = try? DocumentPath(path) else { return true }
            return path.id <= last
        }
        .map(DamagedDocument.init)
    }
}
