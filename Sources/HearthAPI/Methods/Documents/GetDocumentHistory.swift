package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.history`: lists the versions of a document.
package enum GetDocumentHistory: RPCMethod {
    /// The parameters of `documents.history`.
    package struct Params: Sendable {
        package var path: DocumentPath
        package var pageSize: PageSize
        /// The commit time that all versions on the page precede, or `nil` for the first page.
        package var before: Timestamp?
        /// The token that ``before`` is from, or `nil`.
        var pageToken: PageToken?

        package init(path: DocumentPath, pageSize: PageSize = .standard, before: Timestamp? = nil) {
            self.path = path
            self.pageSize = pageSize
            self.before = before
        }
    }

    private static let path = Parameter<DocumentPath>("path", "The document, which may have been deleted.")
    private static let pageSize = Parameter<PageSize?>(
        "pageSize",
        "The maximum number of versions, at most 1000. Default: 100."
    )
    private static let pageToken = Parameter<PageToken?>("pageToken", "The nextPageToken of the previous page.")

    package static let name: UTF8Key = "documents.history"
    package static let summary =
        "Lists the retained versions of a document, newest first: one for each commit that changed or deleted it."
    package static let requiredPermission = Permission.reader
    package static let parameters: [any ParameterDescription] = [path, pageSize, pageToken]
    package static let result = ResultDescription(
        "page",
        .page(of: "versions", .documentVersion, "The versions. A page of large documents may have fewer than requested."),
        "A page of the versions."
    )
    /// A full page and the document that exceeds its byte limit.
    package static let expectedResponseBytes = ServiceLimits().maximumPageBytes + DocumentLimits.maximumDocumentBytes
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The path is invalid."),
        ErrorDescription(status: .dataLoss, "A required part of the journal is damaged."),
        ErrorDescription(status: .unavailable, "The versions cannot currently be read."),
    ]
    package static let examples = [
        RPCExample(
            "a document that was written once and then deleted",
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

    /// The number of versions per read, each of up to the maximum document size.
    private static let batchSize = 8

    package static func params(from arguments: Arguments) throws -> Params {
        let token = try arguments[pageToken]
        var params = Params(
            path: try arguments[path],
            pageSize: try arguments[pageSize] ?? .standard,
            before: try token.map { token in
                try arguments.location(of: pageToken).locatingErrors { () throws(StatusError) in
                    try Timestamp(exactRFC3339: token.last.string)
                }
            }
        )
        params.pageToken = token
        return params
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> VersionPage {
        try params.pageToken?.validate(for: context.database)
        let limits = context.server.limits
        let pageSize = min(params.pageSize.count, limits.maximumPageSize)
        var versions: [DocumentVersion] = []
        var bytes = 0
        var next = params.before
        repeat {
            let limit = min(batchSize, pageSize - versions.count)
            let batch = try await context.store.history(of: params.path, before: next, limit: limit)
            versions += batch.versions
            bytes += batch.versions.reduce(0) { $0 + 64 + ($1.document?.fieldsJSON.count ?? 0) }
            next = batch.next
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

extension JSONSchema {
    /// The schema of a document version.
    fileprivate static var documentVersion: JSONSchema {
        .object([
            .init("commitTime", Timestamp.schema, "The time of the commit."),
            .init("document", .document, "The document; absent if the commit deleted it.", isRequired: false),
            .init(
                "author",
                .string(),
                "The ID of the key that made the commit; absent if there was none or the commit is no longer retained.",
                isRequired: false
            ),
        ])
    }
}

extension ServiceContext {
    /// Returns the version of a document with the given update time, or `nil` if it is not retained.
    package func version(of path: DocumentPath, at time: Timestamp) async throws(StatusError) -> EncodedDocument? {
        guard let end = try? Timestamp(microseconds: time.microseconds + 1) else { return nil }
        let page = try await GetDocumentHistory.call(.init(path: path, pageSize: 1, before: end), in: self)
        return page.versions.first?.document.flatMap { $0.updateTime == time ? $0 : nil }
    }

    /// Returns the newest retained version in which a document exists; `nil` if there is none.
    func newestVersion(of path: DocumentPath) async throws(StatusError) -> EncodedDocument? {
        var before: Timestamp?
        repeat {
            let page = try await GetDocumentHistory.call(.init(path: path, pageSize: 2, before: before), in: self)
            for case let document? in page.versions.map(\.document) { return document }
            before = page.next
        } while before != nil
        return nil
    }
}
