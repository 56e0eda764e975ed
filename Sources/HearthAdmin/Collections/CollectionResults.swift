import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON
import UTF8Text

/// One page of a collection's documents, listed by ID or found by a query.
struct CollectionResults: Sendable {
    /// A row of the page.
    enum Entry: Sendable {
        case document(Document)
        /// A missing document that has subcollections.
        case missing(DocumentPath)
    }

    /// The request, with validation errors added to its filters.
    private(set) var request: CollectionRequest
    private(set) var entries: [Entry] = []
    private let position: StorePosition
    /// The errors of document files that cannot be read.
    private(set) var damaged: [StatusError] = []
    /// The cursor of the next page; `nil` on the last page.
    private(set) var next: CollectionRequest.Cursor?
    /// The cursor of the previous page; `nil` on the first page.
    private(set) var previous: CollectionRequest.Cursor?
    /// The method call that returns the same documents.
    private(set) var call = MethodCall(RunQuery.name)
    /// The stream of changes to these documents; `nil` if they cannot be watched.
    private(set) var liveStream: LiveStreamURL?
    /// The error that the query was rejected with; `nil` if it is valid.
    private(set) var error: CollectionQuery.ValidationError?
    /// The field that the query requires an index on and that is exempted from indexing; `nil` if there is none.
    private(set) var exemptField: String?

    /// Reads the requested page. It may have fewer documents than requested if they are large.
    init(_ request: CollectionRequest, in context: ServiceContext) async throws(StatusError) {
        self.request = request
        // Taken before reading, so that the stream misses no change.
        position = try await context.safePosition()
        do {
            if request.isQuery { try await runQuery(in: context) } else { try await list(in: context) }
        } catch let error as CollectionQuery.ValidationError {
            self.error = error
            if let index = error.filterIndex { self.request.filters[index].error = error.message }
        } catch let error as StatusError {
            guard request.isQuery, error.code == .failedPrecondition, let field = error.field else { throw error }
            exemptField = field
            self.error = CollectionQuery.ValidationError(message: error.message, filterIndex: nil)
            call = MethodCall(RunQuery.name)
            liveStream = nil
        } catch {
            // No other error type is thrown.
            throw StatusError(.internal, "\(error)")
        }
    }

    /// The documents that exist.
    var documents: [Document] {
        entries.compactMap { entry in
            if case .document(let document) = entry { document } else { nil }
        }
    }

    /// True if the page shows all documents.
    var isComplete: Bool { next == nil && previous == nil }
}

// Lists, in ID order.
extension CollectionResults {
    /// Lists documents and missing documents that have subcollections.
    private mutating func list(in context: ServiceContext) async throws(StatusError) {
        let after = try await startID(in: context)
        let page = try await ListDocuments.call(
            .init(collection: request.path, pageSize: request.pageSize, after: after, showMissing: true),
            in: context
        )
        next = page.next.map { .after($0.key) }
        damaged = page.damaged
        for listed in page.documents { append(listed) }
        if after != nil { previous = (page.documents.first?.path.id ?? after).map { .before($0.key) } }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("collection")
        writer.string(request.path.string)
        writer.key("pageSize")
        writer.integer(Int64(request.pageSize.count))
        if let after {
            writer.key("pageToken")
            writer.string(PageToken(after: after.key).text)
        }
        writer.key("showMissing")
        writer.boolean(true)
        writer.endObject()
        call = MethodCall(ListDocuments.name, params: writer.finish())
        setStreamURL(from: after.map { .after($0.key) })
    }

    /// Sets the stream URL, once the cursor is resolved.
    private mutating func setStreamURL(from cursor: CollectionRequest.Cursor?) {
        var request = request
        request.cursor = cursor
        liveStream = LiveStreamURL(of: request, since: position)
    }

    /// Returns the ID after which the list begins.
    ///
    /// Lists only go forward. For the previous page, a query for the preceding names finds the ID.
    private func startID(in context: ServiceContext) async throws(StatusError) -> DocumentPath.ID? {
        switch request.cursor {
        case nil: return nil
        case .after(let id)?: return try DocumentPath.ID(id.string)
        case .before(let id)?:
            let end = StructuredQuery.Cursor([.string(try DocumentPath.ID(id.string).key.string)], isInclusive: false)
            let names = StructuredQuery(
                .collection(request.path),
                orders: [StructuredQuery.Order(.field(.documentName))],
                end: end,
                limit: .last(request.pageSize.count + 1),
                projection: [.documentName]
            )
            let found = try await RunQuery.call(.init(NormalizedQuery(names)), in: context).documents
            return found.count > request.pageSize.count ? found.first?.path.id : nil
        }
    }

    private mutating func append(_ listed: ListedDocument) {
        switch listed {
        case .missing(let path): entries.append(.missing(path))
        case .document(let encoded): append(encoded)
        }
    }

    private mutating func append(_ encoded: EncodedDocument) {
        do throws(StatusError) {
            entries.append(.document(try encoded.decoded()))
        } catch {
            damaged.append(error)
        }
    }
}

// Queries, in sort order.
extension CollectionResults {
    /// Runs the query for one document more than the page shows, to determine whether there is another page.
    private mutating func runQuery(in context: ServiceContext) async throws {
        let limit = min(request.pageSize.count, context.server.limits.maximumPageSize)
        var query = try CollectionQuery(request, limit: limit + 1)
        let orders = query.query.orders
        let cursor = try await resolvedCursor(orders, in: context)
        // The call to copy has the requested limit, and adds the implicit orders only when a cursor needs them.
        let params = try CollectionQuery.params(of: request, orders: cursor == nil ? nil : orders, cursor: cursor, limit: limit)
        call = MethodCall(RunQuery.name, params: params)
        setStreamURL(from: cursor)
        if let cursor { query = try CollectionQuery(request, orders: orders, cursor: cursor, limit: limit + 1) }
        let result = try await RunQuery.call(.init(query.query), in: context)
        damaged = result.damaged
        var documents = result.documents[...]
        let hasMore = documents.count > limit
        let isBefore = if case .before? = cursor { true } else { false }
        if hasMore { documents = isBefore ? documents.dropFirst() : documents.dropLast() }
        for document in documents { append(document) }
        if hasMore || isBefore { next = Self.cursorText(of: documents.last, orders).map { .after($0) } }
        if isBefore ? hasMore : cursor != nil { previous = Self.cursorText(of: documents.first, orders).map { .before($0) } }
    }

    /// Returns the cursor text of a document: the values of its sort fields as JSON.
    ///
    /// When the values are too long for a URL, it is a reference to the document, whose values are read when the cursor is used.
    static func cursorText(of document: EncodedDocument?, _ orders: [StructuredQuery.Order]) -> UTF8Key? {
        guard let document = document.flatMap({ try? $0.decoded() }) else { return nil }
        let values = Value.array(values(of: document, orders)).json
        let json = values.count <= maximumCursorBytes ? values : Value.reference(document.path).json
        return UTF8Key(EscapedJSON.text(json))
    }

    /// Returns the cursor with sort values, reading the document that it references.
    private func resolvedCursor(
        _ orders: [StructuredQuery.Order],
        in context: ServiceContext
    ) async throws -> CollectionRequest.Cursor? {
        guard let cursor = request.cursor else { return nil }
        let (text, isAfter): (UTF8Key, Bool) =
            switch cursor {
            case .after(let text): (text, true)
            case .before(let text): (text, false)
            }
        guard case .reference(let path)? = try? ValueInput(text.string, as: .json).value() else { return cursor }
        let document = try await GetDocument.document(.init(path: path), in: context).decoded()
        guard let values = UTF8Key(validating: Value.array(Self.values(of: document, orders)).json) else { return nil }
        return isAfter ? .after(values) : .before(values)
    }

    private static func values(of document: Document, _ orders: [StructuredQuery.Order]) -> [Value] {
        orders.map { order in
            let field = order.key.field
            return field.isDocumentName ? .string(document.path.id.key.string) : document.fields[field] ?? .null
        }
    }

    private static let maximumCursorBytes = 2_000
}
