package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `query.run`: the documents that a query finds.
package enum RunQuery: RPCMethod {
    package struct Params: Sendable {
        package var query: NormalizedQuery
        package var point: ReadPoint

        package init(_ query: NormalizedQuery, at point: ReadPoint = ReadPoint()) {
            self.query = query
            self.point = point
        }
    }

    package static let name: UTF8Key = "query.run"
    package static let summary = "Gives the documents that a query finds, in its order, all as of one time."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = QueryParameters.all + ReadPoint.parameters
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                "documents",
                .array(of: .document),
                "The documents, with the fields of select, and with their distances where findNearest names a field for them."
            ),
            .readTime,
            .damaged("Documents that could be in the result and cannot be read; absent when there are none."),
        ]),
        "What the query finds."
    )
    /// As much as a page, though a result may be larger.
    package static let expectedAnswerBytes = ListDocuments.expectedAnswerBytes
    package static let errors = [ErrorDescription].ofQueries
    package static let examples = [
        RPCExample(
            "the longest books",
            params: #"""
                {
                    "collection": "books",
                    "where": {"field": "numberOfPages", "op": ">", "value": 200},
                    "orderBy": [{"field": "numberOfPages", "direction": "desc"}],
                    "limit": 1,
                    "select": ["title", "numberOfPages"]
                }
                """#,
            result: #"""
                {
                    "documents": [
                        {
                            "path": "books/hitchhiker",
                            "fields": {"numberOfPages": 816, "title": "The Hitchhiker's Guide to the Galaxy"},
                            "createTime": "2024-02-29T12:00:00.000000Z",
                            "updateTime": "2024-02-29T12:00:00.000000Z"
                        }
                    ],
                    "readTime": "2024-02-29T12:00:00.000000Z"
                }
                """#
        ),
        RPCExample(
            "none",
            params: #"{"collectionGroup": "reviews", "where": {"field": "stars", "op": "in", "value": [6, 7]}}"#,
            result: #"{"documents": [], "readTime": "2024-02-29T12:00:00.000000Z"}"#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(try QueryParameters.normalized(from: arguments), at: try ReadPoint(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> QueryAnswer {
        let view = try await ReadView(params.point, in: context)
        return try await view.run(params.query, maximumBytes: context.server.limits.maximumBodyBytes)
    }

    package static func write(_ result: QueryAnswer, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("documents")
        writer.beginArray()
        for document in result.documents { document.write(to: &writer) }
        writer.endArray()
        writer.key("readTime")
        writer.string(result.readTime.rfc3339)
        writer.damaged(result.damaged.map(DamagedDocument.init))
        writer.endObject()
    }
}

extension JSONSchema.Property {
    /// The time as of which a query was answered.
    static var readTime: JSONSchema.Property {
        .init(
            "readTime",
            Timestamp.schema,
            "The time as of which everything was looked at; further queries at it go with this one."
        )
    }
}

extension [ErrorDescription] {
    /// The errors of methods that query.
    static let ofQueries =
        [
            ErrorDescription(
                status: .unavailable,
                "The index, which queries need, is being made anew or cannot be used now; the error says how far it is."
            ),
            ErrorDescription(status: .dataLoss, "The journal is damaged where the readTime needs it."),
        ] + .ofReads
}
