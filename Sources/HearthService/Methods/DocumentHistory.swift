package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `documents.history`: what a document was, version by version.
package enum DocumentHistory: RPCMethod {
    package struct Params: Sendable {
        package var path: DocumentPath
        package var pageSize: PageSize
        /// Where the page begins: with the newest version older than this, or the newest of all when nil.
        package var before: Timestamp?
        /// What ``before`` was taken from; nil when that was not a token.
        var pageToken: PageToken?

        package init(path: DocumentPath, pageSize: PageSize = .standard, before: Timestamp? = nil) {
            self.path = path
            self.pageSize = pageSize
            self.before = before
        }
    }

    private static let path = Parameter<DocumentPath>("path", "The document, which need not exist any more.")
    private static let pageSize = Parameter<PageSize?>(
        "pageSize",
        "How many versions at most; 100 when absent, and never more than 1000."
    )
    private static let pageToken = Parameter<PageToken?>("pageToken", "The nextPageToken of the page before.")

    package static let name: UTF8Key = "documents.history"
    package static let summary =
        "Lists the versions of a document that are kept, the newest first: each commit that changed or deleted it."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = [path, pageSize, pageToken]
    package static let result = ResultDescription(
        "page",
        .page(of: "versions", .documentVersion, "The versions. A page of large documents may hold fewer than asked for."),
        "A page of the versions."
    )
    /// A page, and the document that ends it.
    package static let expectedAnswerBytes = ServiceLimits().maximumPageBytes + DocumentLimits.maximumDocumentBytes
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The path breaks a rule."),
        ErrorDescription(status: .dataLoss, "The journal is damaged where it is needed."),
        ErrorDescription(status: .unavailable, "The versions cannot be read now."),
    ]
    package static let examples = [
        RPCExample(
            "a document that was written once, and deleted",
            params: #"{"path": "books/restaurant"}"#,
            result: #"""
                {
                    "versions": [
                        {"commitTime": "2024-02-29T12:01:00.000000Z"},
                        {
                            "commitTime": "2024-02-29T12:00:00.000000Z",
                            "document": {
                                "path": "books/restaurant",
                                "fields": {"title": "The Restaurant at the End of the Universe"},
                                "createTime": "2024-02-29T12:00:00.000000Z",
                                "updateTime": "2024-02-29T12:00:00.000000Z"
                            }
                        }
                    ]
                }
                """#
        )
    ]

    /// How many versions are read at a time, each up to the largest size of a document.
    private static let stepCount = 8

    package static func params(from arguments: Arguments) throws -> Params {
        let token = try arguments[pageToken]
        var params = Params(
            path: try arguments[path],
            pageSize: try arguments[pageSize] ?? .standard,
            before: try token.map { token in
                try arguments.location(of: pageToken).model { () throws(StatusError) in
                    try Timestamp(alignedRFC3339: token.last.string)
                }
            }
        )
        params.pageToken = token
        return params
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> VersionPage {
        try params.pageToken?.check(for: context.database)
        let limits = context.server.limits
        let pageSize = min(params.pageSize.count, limits.maximumPageSize)
        var versions: [DocumentVersion] = []
        var bytes = 0
        var next = params.before
        repeat {
            let limit = min(stepCount, pageSize - versions.count)
            let step = try await context.store.history(of: params.path, before: next, limit: limit)
            versions += step.versions
            bytes += step.versions.reduce(0) { $0 + 64 + ($1.document?.fieldsJSON.count ?? 0) }
            next = step.next
        } while next != nil && versions.count < pageSize && bytes < limits.maximumPageBytes
        var page = VersionPage(versions: versions, next: next)
        page.database = context.database
        return page
    }

    package static func write(_ result: VersionPage, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("versions")
        writer.beginArray()
        for version in result.versions {
            writer.beginObject()
            writer.key("commitTime")
            writer.string(version.commitTime.rfc3339)
            if let document = version.document {
                writer.key("document")
                document.write(to: &writer)
            }
            if let author = version.author {
                writer.key("author")
                writer.string(author.string)
            }
            writer.endObject()
        }
        writer.endArray()
        if let next = result.next {
            writer.key("nextPageToken")
            writer.string(PageToken(after: UTF8Key(next.rfc3339), in: result.database).text)
        }
        writer.endObject()
    }
}
