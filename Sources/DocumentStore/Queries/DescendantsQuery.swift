internal import DocumentModel

/// A query for all documents below a document, or below the root, whatever collections they are in.
///
/// The index has no such order, so all of them are listed as they were at one time, and the first of those that match are kept.
struct DescendantsQuery: Sendable {
    private let query: NormalizedQuery
    private let store: FileStore

    /// A document that matches.
    private struct Match: Sendable {
        let document: EncodedDocument
        let fields: MapValue
        let key: NormalizedQuery.SortKey
    }

    /// What there was beside the documents that match.
    private struct Rest: Sendable {
        var damaged: [StatusError] = []
        var readCount = 0
    }

    init(_ query: NormalizedQuery, _ store: FileStore) {
        self.query = query
        self.store = store
    }

    /// The documents of the result.
    ///
    /// - Parameter mask: The only fields that are wanted; what the query says when nil.
    func run(
        maximumBytes: Int,
        readTime: Timestamp?,
        mask: [FieldPath]? = nil
    ) async throws(StatusError) -> QueryAnswer {
        let time = try await time(readTime)
        var selection = QuerySelection(query, maximumBytes: maximumBytes)
        var rest = Rest()
        if query.limit != 0 {
            rest = try await forEachMatch(at: time) { match throws(StatusError) in
                let found = FoundDocument(match.document, match.fields, match.key, of: query, mask)
                if let found { try selection.add(found) }
                return true
            }
        }
        // What is too large to be kept is too large for the result.
        let documents = try selection.result { _ throws(StatusError) in throw .resultTooLarge(maximumBytes) }
        return QueryAnswer(documents: documents, readTime: time, damaged: rest.damaged, work: work(rest))
    }

    /// The numbers that are wanted of the documents of the result.
    func aggregate(_ aggregations: NormalizedAggregations, readTime: Timestamp?) async throws(StatusError) -> AggregationAnswer {
        let time = try await time(readTime)
        var state = AggregationState(aggregations)
        var rest = Rest()
        if query.limit == nil, query.offset == 0 {
            rest = try await forEachMatch(at: time) { match in
                state.add(match.fields)
                return !state.isComplete
            }
        } else {
            let answer = try await run(
                maximumBytes: FileStore.maximumAggregatedBytes,
                readTime: time,
                mask: aggregations.fields
            )
            for document in answer.documents { state.add(try document.decoded().fields) }
            rest = Rest(damaged: answer.damaged, readCount: answer.work.documentsRead)
        }
        return AggregationAnswer(results: state.results, readTime: time, damaged: rest.damaged, work: work(rest))
    }

    private func work(_ rest: Rest) -> QueryWork {
        QueryWork(
            plan: ["List all documents below the parent, and their collections", "Check each"],
            documentsRead: rest.readCount
        )
    }

    private func time(_ readTime: Timestamp?) async throws(StatusError) -> Timestamp {
        if let readTime { return readTime }
        return try await store.settledPosition().lastCommitTime ?? .minimum
    }
}

extension DescendantsQuery {
    /// How many documents are read at once.
    private static let pageSize = 200
    /// How many collections are listed at once.
    private static let collectionCount = 1_000

    /// Calls `body` with each document that matches, until it returns false.
    private func forEachMatch(
        at time: Timestamp,
        _ body: (Match) throws(StatusError) -> Bool
    ) async throws(StatusError) -> Rest {
        guard case .descendants(let top) = query.source else { return Rest() }
        var rest = Rest()
        // The documents, and the root, whose collections are still to be listed.
        var parents: [DocumentPath?] = [top]
        while let parent = parents.popLast() {
            for collection in try await collections(under: parent, at: time, &rest) {
                var after: DocumentID?
                repeat {
                    guard !Task.isCancelled else { throw StatusError(.cancelled, "The query was cancelled.") }
                    let page = try await store.documents(
                        in: collection,
                        after: after,
                        limit: Self.pageSize,
                        includingMissing: true,
                        readTime: time
                    )
                    rest.damaged += page.damaged
                    rest.readCount += page.documents.count
                    parents += page.documents.map(\.path)
                    for match in try await matches(in: page) where try !body(match) { return rest }
                    after = page.next
                } while after != nil
            }
        }
        return rest
    }

    private func matches(in page: DocumentPage) async throws(StatusError) -> [Match] {
        let query = query
        return try await store.listers.run { () throws(StatusError) in
            var matches: [Match] = []
            for case .document(let document) in page.documents {
                let fields = try document.decoded().fields
                guard let key = query.match(fields, at: document.path) else { continue }
                matches.append(Match(document: document, fields: fields, key: key))
            }
            return matches
        }
    }

    private func collections(
        under parent: DocumentPath?,
        at time: Timestamp,
        _ rest: inout Rest
    ) async throws(StatusError) -> [CollectionPath] {
        var collections: [CollectionPath] = []
        var after: CollectionID?
        repeat {
            let page = try await store.collections(
                under: parent,
                after: after,
                limit: Self.collectionCount,
                readTime: time
            )
            rest.damaged += page.damaged
            collections += page.collections.map { CollectionPath(parent: parent, id: $0) }
            after = page.next
        } while after != nil
        return collections
    }
}
