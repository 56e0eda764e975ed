import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON
import UTF8Text

/// A `GET …/documents[/COLLECTION/DOCUMENT]/COLLECTION` call. Without a collection, it lists all child collections of the parent.
struct ListDocumentsCall: RESTCall {
    private let database: DatabaseName
    private let parent: DocumentPath?
    /// The collection to list, or `nil` for all child collections of the parent.
    private let collection: CollectionID?
    private let mask: [FieldPath]?
    private let orders: [StructuredQuery.Order]
    private let pageSize: PageSize
    private let pageToken: String?
    private let showMissing: Bool
    /// True to list documents at any depth.
    private let isRecursive: Bool
    private let consistency: ReadConsistency

    static let requiredPermission = ListDocuments.requiredPermission
    static let parameters: [ProtoField] = .parameters(
        "mask.fieldPaths",
        "orderBy",
        "pageSize",
        "pageToken",
        "readTime",
        "recursive",
        "showMissing",
        "transaction"
    )
    static let acceptsBody = false
    static let expectedResponseBytes = ListDocuments.expectedResponseBytes

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        let id = requestPath.segments.last ?? ""
        if id.byteCount > 0 {
            let path = try requestPath.collection()
            (parent, collection) = (path.parent, path.id)
        } else {
            let parentIDs = Array(requestPath.segments.dropLast())
            parent = try parentIDs.isEmpty ? nil : DocumentPath(parentIDs.map(\.string).joined(separator: "/"))
            collection = nil
        }
        mask = try parameters.mask("mask.fieldPaths")
        orders = try parameters.string("orderBy").map { text throws(StatusError) in try [StructuredQuery.Order](text) } ?? []
        pageSize = try PageSize(parameters.count("pageSize"))
        pageToken = try parameters.string("pageToken")
        showMissing = try parameters.boolean("showMissing") ?? false
        isRecursive = try parameters.boolean("recursive") ?? false
        consistency = try ReadConsistency(parameters)
        guard !showMissing || (orders.isEmpty && !isRecursive) else {
            throw StatusError(
                .invalidArgument,
                "showMissing cannot be combined with orderBy or recursive."
            )
        }
    }

    /// A page of the response.
    private struct Page {
        var entries: [ListedDocument] = []
        /// The token of the next page, or `nil` on the last page.
        var next: String?
        var damagedCount = 0
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let page =
            if isRecursive || !orders.isEmpty {
                try await queriedPage(in: context)
            } else if let collection {
                try await page(of: collection, in: context)
            } else {
                try await pageOfAllCollections(in: context)
            }
        return try .object(damagedCount: page.damagedCount) { writer throws(StatusError) in
            if !page.entries.isEmpty {
                writer.key("documents")
                writer.beginArray()
                for entry in page.entries { try writer.write(entry, in: database) }
                writer.endArray()
            }
            if let next = page.next {
                writer.key("nextPageToken")
                writer.string(next)
            }
        }
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
        try await ListDocuments.call(
            .init(
                collection: CollectionPath(parent: parent, id: collection),
                pageSize: pageSize,
                after: after,
                mask: mask,
                showMissing: showMissing,
                consistency: consistency
            ),
            in: context
        )
    }
}

// All child collections of the parent, one after another.
extension ListDocumentsCall {
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
            guard page.entries.count < size, estimatedBytes < limits.maximumPageBytes else {
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
extension ListDocumentsCall {
    private func queriedPage(in context: ServiceContext) async throws(StatusError) -> Page {
        let size = min(pageSize.count, context.server.limits.maximumPageSize)
        var query = StructuredQuery(try source(), where: range, orders: orders, limit: .first(size + 1))
        query.start = try PageToken(pageToken, for: context).map { token throws(StatusError) in
            StructuredQuery.Cursor(try token.values, isInclusive: false)
        }
        let normalized = try NormalizedQuery(query)
        let found = try await RunQuery.call(.init(normalized, consistency: consistency), in: context)
        var page = Page(damagedCount: found.damaged.count)
        for document in found.documents.prefix(size) {
            page.entries.append(.document(try mask.map { mask throws(StatusError) in try document.masked(mask) } ?? document))
        }
        if found.documents.count > size, let last = found.documents.prefix(size).last {
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
