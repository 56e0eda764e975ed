import DocumentModel
import DocumentStore
import HearthService

/// The part of a collection that a page shows.
struct CollectionListing: Sendable {
    /// An entry in the order of IDs.
    enum Entry: Sendable {
        case document(Document)
        /// A document that doesn't exist, with others below it.
        case missing(DocumentPath)
    }

    let request: CollectionRequest
    private(set) var entries: [Entry] = []
    /// The files among the entries that can't be read as documents.
    private(set) var damaged: [StatusError]
    /// Where the next part begins; nil when this is the last one.
    let next: DocumentID?

    /// Reads the part that a request asks for. It ends early when its documents are large.
    init(_ request: CollectionRequest, in context: ServiceContext) async throws(StatusError) {
        let page = try await ListDocuments.call(
            .init(collection: request.path, pageSize: request.size, after: request.after, showMissing: true),
            in: context
        )
        self.request = request
        next = page.next
        damaged = page.damaged.map(\.error)
        for listed in page.documents { append(listed) }
    }

    /// The documents that exist.
    var documents: [Document] {
        entries.compactMap { entry in
            if case .document(let document) = entry { document } else { nil }
        }
    }

    private mutating func append(_ listed: ListedDocument) {
        switch listed {
        case .missing(let path):
            entries.append(.missing(path))
        case .document(let encoded):
            do throws(StatusError) {
                entries.append(.document(try encoded.decoded()))
            } catch {
                damaged.append(error)
            }
        }
    }
}
