internal import DocumentModel
internal import StrictJSON

/// What a query has found.
struct FoundDocuments: Sendable {
    var documents: [EncodedDocument] = []
    /// The documents that can't be read, each with what is wrong and where.
    var damaged: [StatusError] = []
    /// As of when the query was answered; empty where it doesn't matter.
    var readTime = ""
}

extension HearthConnection {
    /// Reads the documents that a query finds, all as of one time, however many there are.
    func documents(
        of query: DocumentModel.Query,
        _ normalized: NormalizedQuery
    ) async throws(StatusError) -> FoundDocuments {
        if let collection = query.wholeCollection { return try await allDocuments(in: collection) }
        do throws(StatusError) {
            return try await run(query)
        } catch {
            // Too much for one answer comes in parts.
            guard error.code == .resourceExhausted, query.vectorSearch == nil else { throw error }
            guard normalized.isReversed else { return try await pages(of: query, normalized) }
            let opposite = query.opposite(normalized)
            var found = try await pages(of: opposite, NormalizedQuery(opposite))
            found.documents.reverse()
            return found
        }
    }

    private func pages(
        of query: DocumentModel.Query,
        _ normalized: NormalizedQuery
    ) async throws(StatusError) -> FoundDocuments {
        var found = FoundDocuments()
        var page = query
        var pageSize = 256
        while true {
            let count = min(pageSize, normalized.limit.map { $0 - found.documents.count } ?? .max)
            page.limit = .first(count)
            let answer: FoundDocuments
            do throws(StatusError) {
                answer = try await run(page, readTime: found.readTime.isEmpty ? nil : found.readTime)
            } catch {
                guard error.code == .resourceExhausted, pageSize > 1 else { throw error }
                pageSize /= 4
                continue
            }
            found.readTime = answer.readTime
            found.documents += answer.documents
            found.damaged += answer.damaged.filter { error in !found.damaged.contains { $0.path == error.path } }
            guard answer.documents.count == count, found.documents.count < normalized.limit ?? .max,
                let last = answer.documents.last,
                let key = normalized.sortKey(of: try last.decoded().fields, at: last.path)
            else { return found }
            page.offset = 0
            page.start = DocumentModel.Query.Cursor(key.values, isInclusive: false)
        }
    }

    private func run(_ query: DocumentModel.Query, readTime: String? = nil) async throws(StatusError) -> FoundDocuments {
        let result = try await call("query.run") { params in
            query.writeMembers(to: &params)
            if let readTime { params.member("readTime", readTime) }
        }
        return FoundDocuments(
            documents: try result.array("documents").map { json throws(StatusError) in try EncodedDocument(rpc: json) },
            damaged: result.damaged,
            readTime: try result.string("readTime")
        )
    }
}

extension DocumentModel.Query {
    /// The query that finds, as its first documents, the last ones that this one asks for.
    fileprivate func opposite(_ normalized: NormalizedQuery) -> DocumentModel.Query {
        var query = self
        query.orders = normalized.orders
        (query.start, query.end) = (normalized.start, normalized.end)
        query.limit = normalized.limit.map { .first($0) }
        return query
    }
}
