import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// Positions of documents in a collection, counted from 1, and the cursors of the pages that begin there.
///
/// Counting and skipping use index entries only, and at most ``maximumDistance`` of them from the nearer end of a collection; a query
/// skips at most ``maximumQueryPosition`` of its documents, because it may have to read them.
struct PagePositions: Sendable {
    let context: ServiceContext

    /// The maximum number of index entries to skip or to count from an end of a collection.
    static let maximumDistance = 100_000
    /// The maximum position in the results of a query.
    static let maximumQueryPosition = 2_000

    /// Returns the position of a document in the ID order of its collection; `nil` if it is too far from both ends.
    func position(of document: DocumentPath) async throws(StatusError) -> Int? {
        let limit = Self.maximumDistance + 1
        let before = try await count(document, { .less($0) }, upTo: limit)
        if before < limit { return before + 1 }
        let after = try await count(document, { .greaterOrEqual($0) }, upTo: limit)
        guard after < limit else { return nil }
        let total = try await GetCollectionSize.call(.init(collection: document.collection), in: context).documentCount
        return max(1, total - after + 1)
    }

    private func count(
        _ document: DocumentPath,
        _ condition: (Value) -> Condition,
        upTo limit: Int
    ) async throws(StatusError) -> Int {
        let query = StructuredQuery(
            .collection(document.collection),
            where: .field(.documentName, condition(.reference(document)))
        )
        return try await context.count(NormalizedQuery(query), upTo: limit).number
    }

    /// Returns the ID before a position in the ID order of a collection; `nil` if the position is the first.
    ///
    /// - Throws: `outOfRange` if the position is too far from both ends.
    func id(before position: Int, in collection: CollectionPath) async throws(StatusError) -> DocumentPath.ID? {
        let total = try await GetCollectionSize.call(.init(collection: collection), in: context).documentCount
        let previous = min(position, total) - 1
        guard previous > 0 else { return nil }
        let isNearEnd = total - previous < previous - 1
        let distance = isNearEnd ? total - previous : previous - 1
        guard distance <= Self.maximumDistance else {
            throw StatusError(
                .outOfRange,
                "Expected a position within \(Self.maximumDistance) documents of the first or last one."
            )
        }
        let query = StructuredQuery(
            .collection(collection),
            orders: [StructuredQuery.Order(.field(.documentName), isNearEnd ? .descending : .ascending)],
            offset: distance,
            limit: .first(1),
            projection: [.documentName]
        )
        return try await RunQuery.call(.init(NormalizedQuery(query)), in: context).documents.first?.path.id
    }

    /// Returns the ID before another one in a collection; `nil` if there is none.
    func id(before id: DocumentPath.ID, in collection: CollectionPath) async throws(StatusError) -> DocumentPath.ID? {
        let query = StructuredQuery(
            .collection(collection),
            where: .field(.documentName, .less(.reference(collection.document(id)))),
            orders: [StructuredQuery.Order(.field(.documentName), .descending)],
            limit: .first(1),
            projection: [.documentName]
        )
        return try await RunQuery.call(.init(NormalizedQuery(query)), in: context).documents.first?.path.id
    }

    /// Returns the cursor of the page that begins at a position greater than 1 of a query's results; `nil` if there are fewer.
    private func cursor(
        before position: Int,
        in request: CollectionRequest
    ) async throws -> CollectionRequest.Cursor? {
        // The document before the position, and the one at it.
        let query = try CollectionQuery(request, limit: 2, offset: position - 2)
        let found = try await RunQuery.call(.init(query.query), in: context).documents
        guard found.count == 2 else { return nil }
        return CollectionResults.cursorText(of: found.first, query.query.orders).map { .after($0) }
    }

    /// Returns the cursor of the page with the last documents of a query's results; `nil` if they are on the first page.
    private func cursor(ofLast count: Int, in request: CollectionRequest) async throws -> CollectionRequest.Cursor? {
        let orders = try CollectionQuery(request).query.orders
        let query = try CollectionQuery(request, orders: orders, limit: count + 1, isFromEnd: true)
        let found = try await RunQuery.call(.init(query.query), in: context).documents
        guard found.count > count else { return nil }
        return CollectionResults.cursorText(of: found.first, orders).map { .after($0) }
    }
}

extension PagePositions {
    /// Returns the URL of the page that a jump leads to; `nil` if it cannot be reached.
    ///
    /// A position after the last document leads to the last one.
    func url(of jump: PageJump, in request: CollectionRequest) async throws -> String? {
        let pageSize = min(request.pageSize.count, context.server.limits.maximumPageSize)
        switch jump {
        case .invalid: return nil
        case .id(let id):
            guard !request.isQuery else { return nil }
            return url(in: request, after: try await self.id(before: id, in: request.path))
        case .position(let position):
            guard request.isQuery else { return url(in: request, after: try await id(before: position, in: request.path)) }
            guard position <= Self.maximumQueryPosition else { return nil }
            guard position > 1 else { return request.url { $0.cursor = nil } }
            guard let cursor = try await cursor(before: position, in: request) else {
                return try await url(of: .last, in: request)
            }
            return request.url { ($0.cursor, $0.position) = (cursor, position) }
        case .last:
            guard request.isQuery else {
                let total = try await GetCollectionSize.call(.init(collection: request.path), in: context).documentCount
                let first = max(0, total - 1) / pageSize * pageSize + 1
                return url(in: request, after: try await id(before: first, in: request.path))
            }
            let total = await MatchCount(request, in: context).count
            let known = total.flatMap { $0.isLowerBound ? nil : $0.value }
            let count = known.map { max(1, $0 - max(0, $0 - 1) / pageSize * pageSize) } ?? pageSize
            let cursor = try await cursor(ofLast: count, in: request)
            return request.url { ($0.cursor, $0.position) = (cursor, cursor == nil ? nil : known.map { $0 - count + 1 }) }
        }
    }

    private func url(in request: CollectionRequest, after id: DocumentPath.ID?) -> String {
        request.url { $0.cursor = id.map { .after($0.key) } }
    }
}
