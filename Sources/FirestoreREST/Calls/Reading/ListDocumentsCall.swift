import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// `GET …/documents[/COLLECTION/DOCUMENT]/COLLECTION`, and the same without the collection for all that there are.
struct ListDocumentsCall: Call {
    let database: DatabaseName
    let parent: DocumentPath?
    /// The collection to list; all right below the parent when nil.
    let collection: CollectionID?
    let mask: [FieldPath]?
    let orders: [Query.Order]
    let pageSize: PageSize
    let pageToken: String?
    let showMissing: Bool
    /// Whether to list also what is below the documents.
    let isRecursive: Bool
    let point: ReadPoint

    static let right = ListDocuments.right
    static let parameters: [MessageField] = .parameters(
        "mask.fieldPaths",
        "orderBy",
        "pageSize",
        "pageToken",
        "readTime",
        "recursive",
        "showMissing",
        "transaction"
    )
    static let takesBody = false
    static let expectedAnswerBytes = ListDocuments.expectedAnswerBytes

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError) {
        database = address.database
        let id = address.segments.last ?? ""
        if id.byteCount > 0 {
            let path = try address.collection()
            (parent, collection) = (path.parent, path.id)
        } else {
            let above = Array(address.segments.dropLast())
            (parent, collection) = (try above.isEmpty ? nil : DocumentPath(above.map(\.string).joined(separator: "/")), nil)
        }
        mask = try parameters.mask("mask.fieldPaths")
        orders = try parameters.text("orderBy").map { text throws(StatusError) in try [Query.Order](text) } ?? []
        pageSize = try PageSize(parameters.count("pageSize"))
        pageToken = try parameters.text("pageToken")
        showMissing = try parameters.boolean("showMissing") ?? false
        isRecursive = try parameters.boolean("recursive") ?? false
        point = try ReadPoint(parameters)
        guard !showMissing || (orders.isEmpty && !isRecursive) else {
            throw StatusError(
                .invalidArgument,
                "Missing documents are listed in the order of names, and not with all below them. "
                    + "Leave showMissing out, or orderBy and recursive."
            )
        }
    }

    /// A page of the list.
    struct Page {
        var entries: [ListedDocument] = []
        /// The token of the next page; nil when there is none.
        var next: String?
        var damagedCount = 0
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
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
        let after = try PageToken(pageToken, for: context).map { token throws(StatusError) in try DocumentID(token.last.string) }
        let page = try await list(collection, atMost: pageSize, after: after, in: context)
        return Page(
            entries: page.documents,
            next: page.next.map { PageToken(after: $0.key, in: context.database).text },
            damagedCount: page.damaged.count
        )
    }

    func list(
        _ collection: CollectionID,
        atMost pageSize: PageSize,
        after: DocumentID?,
        in context: ServiceContext
    ) async throws(StatusError) -> ListDocuments.Result {
        try await ListDocuments.call(
            .init(
                collection: CollectionPath(parent: parent, id: collection),
                pageSize: pageSize,
                after: after,
                mask: mask,
                showMissing: showMissing,
                at: point
            ),
            in: context
        )
    }
}
