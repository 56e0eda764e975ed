package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `query.run`: runs a query.
package enum RunQuery: RPCMethod {
    /// The parameters of `query.run`.
    package struct Params: Sendable {
        package var query: NormalizedQuery
        package var consistency: ReadConsistency

        package init(_ query: NormalizedQuery, consistency: ReadConsistency = ReadConsistency()) {
            self.query = query
            self.consistency = consistency
        }
    }

    package static let name: UTF8Key = "query.run"
    package static let summary = "Runs a query and returns the matching documents in its order, read at one point in time."
    package static let requiredPermission = Permission.readDocuments
    package static let parameters: [any ParameterDescription] = QueryParameters.all + ReadConsistency.parameters
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                QueryResponseKeys.documents,
                .array(of: .document),
                "The documents, with the fields of select, and with their distances if findNearest names a distanceResultField."
            ),
            .readTime,
            .epoch,
            .damaged("Unreadable documents that could be in the result; absent if there are none."),
        ]),
        "The query results."
    )
    /// The size of a page; results may be larger.
    package static let expectedResponseBytes = ListDocuments.expectedResponseBytes
    package static let errors = [ErrorDescription].queryErrors
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
                    "readTime": "2024-02-29T12:00:00.000000Z",
                    "epoch": "e29374f1fe60fe125e13fe28432e8144"
                }
                """#
        ),
        RPCExample(
            "no matches",
            params: #"{"collectionGroup": "reviews", "where": {"field": "stars", "op": "in", "value": [6, 7]}}"#,
            result:
                #"{"documents": [], "readTime": "2024-02-29T12:00:00.000000Z", "epoch": "e29374f1fe60fe125e13fe28432e8144"}"#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(try QueryParameters.normalized(from: arguments), consistency: try ReadConsistency(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> QueryResults {
        // Before the query: the answer of a history that has ended is not taken for one of its successor.
        let epoch = context.store.position.epoch
        let view = try await ReadView(params.consistency, in: context)
        var results = try await view.run(params.query, maximumBytes: context.server.limits.maximumBodyBytes)
        results.epoch = epoch
        return results
    }

    package static func write(_ result: QueryResults, to writer: inout JSONWriter) {
        QueryResponse(
            documents: result.documents,
            readTime: result.readTime,
            damaged: result.damaged,
            epoch: result.epoch
        )
        .write(to: &writer)
    }
}

extension JSONSchema.Property {
    /// The epoch of an answer.
    static var epoch: JSONSchema.Property {
        .init(QueryResponseKeys.epoch, .string(), "The epoch of the history that the times belong to, as in watch streams.")
    }

    /// The point in time of a query.
    static var readTime: JSONSchema.Property {
        .init(
            QueryResponseKeys.readTime,
            Timestamp.schema,
            "The point in time at which the query was run. Pass it as readTime to read consistent data in subsequent calls."
        )
    }
}

extension [ErrorDescription] {
    /// The errors of query methods.
    static let queryErrors =
        [
            ErrorDescription(
                status: .unavailable,
                "The index is being rebuilt or is unavailable; the error message includes the progress."
            ),
            ErrorDescription(status: .dataLoss, "The journal is damaged at the readTime."),
        ] + .readErrors
}
