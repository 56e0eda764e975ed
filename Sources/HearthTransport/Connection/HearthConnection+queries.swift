package import DocumentModel
internal import HearthWire
package import StrictJSON
internal import UTF8Text

extension HearthConnection {
    /// Runs a query.
    ///
    /// - Parameter query: The parameters of `query.run`, a JSON object.
    package func runQuery(
        _ query: JSONNode
    ) async throws(StatusError) -> (documents: [EncodedDocument], damaged: [StatusError]) {
        let response = try QueryResponse(json: await call("query.run") { $0.members(of: query) })
        return (response.documents, response.damaged)
    }

    /// Runs an aggregation query.
    ///
    /// - Parameter query: The parameters of `query.aggregate`, a JSON object.
    /// - Returns: A JSON object with the results by alias.
    package func runAggregationQuery(_ query: JSONNode) async throws(StatusError) -> (result: JSONNode, damaged: [StatusError]) {
        let response = try await call("query.aggregate") { $0.members(of: query) }
        guard let result = response[AggregationResponseKeys.result] else {
            throw .malformedResponse(response, expected: "an object named result")
        }
        return (result, response.damaged)
    }

    /// Returns the plan and execution statistics of a query.
    ///
    /// - Parameter query: The parameters of `query.explain`, a JSON object.
    package func explainQuery(_ query: JSONNode) async throws(StatusError) -> JSONNode {
        try await call("query.explain") { $0.members(of: query) }
    }
}

extension JSONWriter {
    /// Copies the members of an object.
    fileprivate mutating func members(of object: JSONNode) {
        guard let members = object.members else { return }
        for (name, value) in members {
            key(name)
            raw(value.rawBytes)
        }
    }
}

/// All documents of a query or collection.
package struct FetchedDocuments: Sendable {
    package var documents: [EncodedDocument] = []
    /// The time as of which they were read; `nil` if it is not known.
    package var readTime: Timestamp?
    /// The epoch of the history that the times belong to; `nil` if it is not known.
    package var epoch: String?
    /// Errors for documents that cannot be read.
    package var damaged: [StatusError] = []
}

extension HearthConnection {
    /// Runs a query and returns all its documents as of one read time, in several pages if necessary.
    package func documents(
        of query: StructuredQuery,
        _ normalized: NormalizedQuery
    ) async throws(StatusError) -> FetchedDocuments {
        do throws(StatusError) {
            let response = try await run(query)
            return FetchedDocuments(
                documents: response.documents,
                readTime: response.readTime,
                epoch: response.epoch,
                damaged: response.damaged
            )
        } catch {
            // Reads a result that is too large for one response in pages.
            guard error.code == .resourceExhausted, query.vectorSearch == nil else { throw error }
            guard normalized.isReversed else { return try await pages(of: query, normalized) }
            let reversed = query.reversed(normalized)
            var result = try await pages(of: reversed, NormalizedQuery(reversed))
            result.documents.reverse()
            return result
        }
    }

    private func pages(
        of query: StructuredQuery,
        _ normalized: NormalizedQuery
    ) async throws(StatusError) -> FetchedDocuments {
        var result = FetchedDocuments()
        var page = query
        var pageSize = 256
        while true {
            let count = min(pageSize, normalized.limit.map { $0 - result.documents.count } ?? .max)
            page.limit = .first(count)
            let response: QueryResponse
            do throws(StatusError) {
                response = try await run(page, readTime: result.readTime)
            } catch {
                guard error.code == .resourceExhausted, pageSize > 1 else { throw error }
                pageSize /= 4
                continue
            }
            // The pages after the first are as of its time, which belongs to its epoch.
            if result.readTime == nil { (result.readTime, result.epoch) = (response.readTime, response.epoch) }
            result.documents += response.documents
            result.damaged += response.damaged.filter { error in !result.damaged.contains { $0.path == error.path } }
            guard response.documents.count == count, result.documents.count < normalized.limit ?? .max,
                let last = response.documents.last,
                let key = normalized.sortKey(of: try last.decoded().fields, at: last.path)
            else { return result }
            page.offset = 0
            page.start = StructuredQuery.Cursor(key.values, isInclusive: false)
        }
    }

    private func run(_ query: StructuredQuery, readTime: Timestamp? = nil) async throws(StatusError) -> QueryResponse {
        let result = try await call("query.run") { params in
            query.writeMembers(to: &params)
            if let readTime { params.member(ReadConsistencyKeys.readTime, readTime.rfc3339) }
        }
        return try QueryResponse(json: result)
    }
}

extension StructuredQuery {
    /// Returns the query in the opposite order, which turns `limitToLast` into `limit`.
    fileprivate func reversed(_ normalized: NormalizedQuery) -> StructuredQuery {
        var query = self
        query.orders = normalized.orders
        (query.start, query.end) = (normalized.start, normalized.end)
        query.limit = normalized.limit.map { .first($0) }
        return query
    }
}

extension HearthConnection {
    /// Runs aggregations over the result of a query.
    ///
    /// - Returns: The results in the order of the operations, and errors for documents that could not be read.
    package func aggregate(
        _ operations: [Aggregation.Operation],
        over query: StructuredQuery
    ) async throws(StatusError) -> (values: [Value], damaged: [StatusError]) {
        let result = try await call("query.aggregate") { params in
            params.array(AggregationQueryKeys.aggregations, of: operations) { Aggregation($0).write(to: &$1) }
            query.writeMembers(to: &params)
        }
        let response = try AggregationResponse(json: result)
        let values = try operations.indices.map { index throws(StatusError) in
            guard let value = response.results[UTF8Key("field_\(index + 1)")] else {
                throw .malformedResponse(result, expected: "a result for each aggregation")
            }
            return value
        }
        return (values, response.damaged)
    }
}
