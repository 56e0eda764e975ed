package import DocumentModel
import DocumentStore
import FirestoreMessages
package import HearthAPI
import StrictJSON
import UTF8Text

/// A `ListDocuments` request.
package struct ListDocumentsRequest: Sendable {
    /// The document or root whose collections are listed.
    package var parent: DocumentPath?
    /// The collection to list, or `nil` for all child collections of the parent.
    package var collection: CollectionID?
    package var mask: [FieldPath]?
    package var orders: [StructuredQuery.Order] = []
    package var pageSize = PageSize.standard
    /// The size at which a page ends; `nil` for the server's limit.
    package var maximumPageBytes: Int?
    package var pageToken: String?
    package var showMissing = false
    /// True to list documents at any depth. An extension of REST.
    package var isRecursive = false
    package var consistency = ReadConsistency()

    package static let requiredPermission = ListDocuments.requiredPermission
    package static let expectedResponseBytes = ListDocuments.expectedResponseBytes

    package init(below parent: DocumentPath?, _ collection: CollectionID?) {
        self.parent = parent
        self.collection = collection
    }

    /// A page of the list.
    package struct Page: Sendable {
        package fileprivate(set) var entries: [ListedDocument] = []
        /// The token of the next page, or `nil` on the last page.
        package fileprivate(set) var next: String?
        package fileprivate(set) var damagedCount = 0
    }

    /// - Throws: ``StatusCode/invalidArgument`` for parameters that cannot be combined.
    package func validate() throws(StatusError) {
        guard !showMissing || (orders.isEmpty && !isRecursive) else {
            throw StatusError(
                .invalidArgument,
                "showMissing cannot be combined with orderBy or recursive."
            )
        }
    }

    package func respond(in context: ServiceContext) async throws(StatusError) -> Page {
        if isRecursive || !orders.isEmpty { return try await queriedPage(in: context) }
        if let collection { return try await page(of: collection, in: context) }
        return try await pageOfAllCollections(in: context)
    }

    private func page(of collection: CollectionID, in context: ServiceContext) async throws(StatusError) -> Page {
        let after = try PageToken(pageToken, for: context).map { token throws(StatusError) in
            try DocumentPath.ID(token.last.string)
        }
        let page = try await list(collection, atMost: pageSize, after: after, in: context)
        return Page(
            entries: page.documents,
            next: page.next.map { PageToken(after: $0.key, in: context.database).text },
            damagedCount: page.damaged.count
        )
    }

    private func list(
        _ collection: CollectionID,
        atMost pageSize: PageSize,
        after: DocumentPath.ID?,
        in context: ServiceContext
    ) async throws(StatusError) -> ListDocuments.Result {
        var params = ListDocuments.Params(
            collection: CollectionPath(parent: parent, id: collection),
            pageSize: pageSize,
            after: after,
            mask: mask,
            showMissing: showMissing,
            consistency: consistency
        )
        params.maximumBytes = maximumPageBytes
        return try await ListDocuments.call(params, in: context)
    }
}

// All child collections of the parent, one after another.
extension ListDocumentsRequest {
    /// The start of a page: a collection, and the document to start after.
    private struct Position {
        let collection: CollectionID
        let after: DocumentPath.ID?

        /// The encoded form in a page token, `collection/document` or `collection/`.
        var key: UTF8Key {
            UTF8Key(collection.key.string + "/" + (after?.key.string ?? ""))
        }

        init(_ collection: CollectionID, after: DocumentPath.ID?) {
            self.collection = collection
            self.after = after
        }

        init(_ key: UTF8Key) throws(StatusError) {
            let collection = key.utf8.prefix { $0 != UInt8(ascii: "/") }
            let after = key.utf8.dropFirst(collection.count + 1)
            self.collection = try CollectionID(String(Substring(collection)))
            self.after = after.isEmpty ? nil : try DocumentPath.ID(String(Substring(after)))
        }
    }

    private func pageOfAllCollections(in context: ServiceContext) async throws(StatusError) -> Page {
        let limits = context.server.limits
        let size = min(pageSize.count, limits.maximumPageSize)
        var page = Page()
        var estimatedBytes = 0
        var position: Position?
        if let token = try PageToken(pageToken, for: context) {
            position = try Position(token.last)
        } else {
            position = try await firstPosition(after: nil, in: context)
        }
        while let current = position {
            guard page.entries.count < size, estimatedBytes < maximumPageBytes ?? limits.maximumPageBytes else {
                page.next = PageToken(after: current.key, in: context.database).text
                return page
            }
            let listed = try await list(
                current.collection,
                atMost: PageSize(size - page.entries.count),
                after: current.after,
                in: context
            )
            page.entries += listed.documents
            page.damagedCount += listed.damaged.count
            estimatedBytes += listed.documents.estimatedBytes
            if let next = listed.next {
                position = Position(current.collection, after: next)
            } else {
                position = try await firstPosition(after: current.collection, in: context)
            }
        }
        return page
    }

    private func firstPosition(after collection: CollectionID?, in context: ServiceContext) async throws(StatusError) -> Position?
    {
        let page = try await ListCollections.call(
            .init(parent: parent, pageSize: 1, after: collection, readTime: consistency.readTime),
            in: context
        )
        return page.collections.first.map { Position($0, after: nil) }
    }
}

// Lists with an explicit order and recursive lists, executed as queries.
extension ListDocumentsRequest {
    private func queriedPage(in context: ServiceContext) async throws(StatusError) -> Page {
        let size = min(pageSize.count, context.server.limits.maximumPageSize)
        var query = StructuredQuery(try source(), where: range, orders: orders, limit: .first(size + 1))
        query.start = try PageToken(pageToken, for: context).map { token throws(StatusError) in
            StructuredQuery.Cursor(try token.values, isInclusive: false)
        }
        let normalized = try NormalizedQuery(query)
        let found = try await RunQuery.call(.init(normalized, consistency: consistency), in: context)
        var page = Page(damagedCount: found.damaged.count)
        var byteCount = 0
        for document in found.documents.prefix(size) where byteCount < maximumPageBytes ?? .max {
            byteCount += document.fieldsJSON.count
            page.entries.append(.document(try mask.map { mask throws(StatusError) in try document.masked(mask) } ?? document))
        }
        if found.documents.count > page.entries.count, let last = found.documents.prefix(page.entries.count).last {
            let sortKey = normalized.sortKey(of: try last.decoded().fields, at: last.path)
            page.next = sortKey.map { PageToken(after: $0.values, in: context.database).text }
        }
        return page
    }

    private func source() throws(StatusError) -> StructuredQuery.Source {
        switch (collection, isRecursive) {
        case (let collection?, false): return .collection(CollectionPath(parent: parent, id: collection))
        case (_, true): return .descendants(of: parent)
        case (nil, false):
            throw StatusError(
                .unimplemented,
                "orderBy requires a collection. Documents of all collections can be listed only in name order."
            )
        }
    }

    /// The filter that restricts the descendants of a document to those in one of its collections.
    private var range: QueryFilter? {
        guard isRecursive, let collection else { return nil }
        return DescendantNameRange(CollectionPath(parent: parent, id: collection)).filter
    }
}

extension PageToken {
    /// Creates the token of a page that starts after the document with these sort key values, encoded in Hearth's JSON form.
    fileprivate init(after values: [Value], in database: DatabaseID?) {
        var writer = JSONWriter()
        Value.array(values).write(to: &writer)
        self.init(after: UTF8Key(String(decoding: writer.finish(), as: UTF8.self)), in: database)
    }

    /// The sort key values in the token.
    fileprivate var values: [Value] {
        get throws(StatusError) {
            guard let root = try? JSONText(Array(last.utf8)).root, case .array(let values)? = try? Value(json: root) else {
                throw StatusError(.invalidArgument, "Expected the nextPageToken of a page of the same list.")
                    .prefixingPath(with: "pageToken")
            }
            return values
        }
    }
}
