import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// The part of a collection that a page shows.
struct CollectionListing: Sendable {
    /// An entry in the order of the part.
    enum Entry: Sendable {
        case document(Document)
        /// A document that doesn't exist, with others below it.
        case missing(DocumentPath)
    }

    /// The request; its filters say what is wrong with them.
    private(set) var request: CollectionRequest
    private(set) var entries: [Entry] = []
    private let position: StorePosition
    /// The files among the entries that can't be read as documents.
    private(set) var damaged: [StatusError] = []
    /// Where the next part begins; nil when this is the last one.
    private(set) var next: CollectionRequest.Cursor?
    /// Where the part before this one ends; nil when this is the first one.
    private(set) var previous: CollectionRequest.Cursor?
    /// The call that gives these documents.
    private(set) var call = TriedCall(RunQuery.name)
    /// How the page follows these documents; nil where it can't.
    private(set) var live: LiveView?
    /// Why there are no documents; nil when that is not so.
    private(set) var fault: CollectionQuery.Fault?

    /// Reads the part that a request asks for. It ends early when its documents are large.
    init(_ request: CollectionRequest, in context: ServiceContext) async throws(StatusError) {
        self.request = request
        // From before anything is read, so that no change slips in between.
        position = context.store.position
        do {
            if request.isQuery { try await query(in: context) } else { try await list(in: context) }
        } catch let fault as CollectionQuery.Fault {
            self.fault = fault
            if let index = fault.filter { self.request.filters[index].fault = fault.message }
        } catch let error as StatusError {
            throw error
        } catch {
            // Nothing else is thrown.
            throw StatusError(.internal, "\(error)")
        }
    }

    /// The documents that exist.
    var documents: [Document] {
        entries.compactMap { entry in
            if case .document(let document) = entry { document } else { nil }
        }
    }

    /// Whether the page shows all that there is.
    var isWhole: Bool { next == nil && previous == nil }
}

// In the order of IDs.
extension CollectionListing {
    /// Lists documents, and those that don't exist but have others below them.
    private mutating func list(in context: ServiceContext) async throws(StatusError) {
        let after = try await start(in: context)
        let page = try await ListDocuments.call(
            .init(collection: request.path, pageSize: request.count, after: after, showMissing: true),
            in: context
        )
        next = page.next.map { .after($0.key) }
        damaged = page.damaged.map(\.error)
        for listed in page.documents { append(listed) }
        if after != nil { previous = (page.documents.first?.path.id ?? after).map { .before($0.key) } }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("collection")
        writer.string(request.path.string)
        writer.key("pageSize")
        writer.integer(Int64(request.count.count))
        if let after {
            writer.key("pageToken")
            writer.string(PageToken(after: after.key).text)
        }
        writer.key("showMissing")
        writer.boolean(true)
        writer.endObject()
        call = TriedCall(ListDocuments.name, params: writer.finish())
        follow(after.map { .after($0.key) })
    }

    /// Notes how the page follows what it shows, whose place is known now.
    private mutating func follow(_ cursor: CollectionRequest.Cursor?) {
        var request = request
        request.cursor = cursor
        live = LiveView(of: request, since: position)
    }

    /// The ID behind which the list begins.
    ///
    /// Lists go forward only: the way back is found among the names of the documents before.
    private func start(in context: ServiceContext) async throws(StatusError) -> DocumentID? {
        switch request.cursor {
        case nil: return nil
        case .after(let id)?: return try DocumentID(id.string)
        case .before(let id)?:
            let place = StoreQuery.Cursor([.string(try DocumentID(id.string).key.string)], isInclusive: false)
            let names = StoreQuery(
                .collection(request.path),
                orders: [StoreQuery.Order(.field(.documentName))],
                end: place,
                limit: .last(request.count.count + 1),
                projection: [.documentName]
            )
            let found = try await RunQuery.call(.init(NormalizedQuery(names)), in: context).documents
            return found.count > request.count.count ? found.first?.path.id : nil
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

// In the order of a query.
extension CollectionListing {
    /// Finds documents, one more than there is room for, which tells whether there is another page.
    private mutating func query(in context: ServiceContext) async throws {
        let limit = min(request.count.count, context.server.limits.maximumPageSize)
        var asked = try CollectionQuery(request, limit: limit + 1)
        let orders = asked.query.orders
        let cursor = try await resolvedCursor(orders, in: context)
        // Only what is asked for is shown to be copied, and what is needed to go on.
        let stated = try CollectionQuery.params(of: request, orders: cursor == nil ? nil : orders, cursor: cursor, limit: limit)
        call = TriedCall(RunQuery.name, params: stated)
        follow(cursor)
        if let cursor { asked = try CollectionQuery(request, orders: orders, cursor: cursor, limit: limit + 1) }
        let answer = try await RunQuery.call(.init(asked.query), in: context)
        damaged = answer.damaged
        var found = answer.documents[...]
        let hasMore = found.count > limit
        let isBefore = if case .before? = cursor { true } else { false }
        if hasMore { found = isBefore ? found.dropFirst() : found.dropLast() }
        for document in found { append(document) }
        if hasMore || isBefore { next = place(of: found.last, orders).map { .after($0) } }
        if isBefore ? hasMore : cursor != nil { previous = place(of: found.first, orders).map { .before($0) } }
    }

    /// Where a document stands: the values by which the documents are sorted, as JSON. For values so long that an address can't hold
    /// them, the document itself, which is looked up when the page is turned.
    private func place(of document: EncodedDocument?, _ orders: [StoreQuery.Order]) -> UTF8Key? {
        guard let document = document.flatMap({ try? $0.decoded() }) else { return nil }
        let values = Value.array(Self.values(of: document, orders)).json
        let json = values.count <= Self.maximumPlaceBytes ? values : Value.reference(document.path).json
        return UTF8Key(VisibleJSON.text(json))
    }

    /// The cursor with values, where it names a document.
    private func resolvedCursor(
        _ orders: [StoreQuery.Order],
        in context: ServiceContext
    ) async throws -> CollectionRequest.Cursor? {
        guard let cursor = request.cursor else { return nil }
        let (text, isAfter): (UTF8Key, Bool) =
            switch cursor {
            case .after(let text): (text, true)
            case .before(let text): (text, false)
            }
        guard case .reference(let path)? = try? TypedText(text.string, as: .json).value() else { return cursor }
        let document = try await GetDocument.call(.init(path: path), in: context).decoded()
        guard let values = UTF8Key(validating: Value.array(Self.values(of: document, orders)).json) else { return nil }
        return isAfter ? .after(values) : .before(values)
    }

    private static func values(of document: Document, _ orders: [StoreQuery.Order]) -> [Value] {
        orders.map { order in
            let field = order.key.field
            return field.isDocumentName ? .string(document.path.id.key.string) : document.fields[field] ?? .null
        }
    }

    private static let maximumPlaceBytes = 2_000
}
