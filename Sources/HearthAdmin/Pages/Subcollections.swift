import DocumentModel
import DocumentStore
import StrictJSON

/// The collections under a document, as links.
struct Subcollections: Sendable {
    let links: [LinkView]
    /// Whether there are more than are listed.
    let hasMore: Bool

    /// Reads the first of them.
    init(of path: DocumentPath, from store: any DocumentStore) async throws(StatusError) {
        let page = try await store.collections(under: path, after: nil, limit: Self.limit)
        links = page.collections.map { id in
            LinkView(url: AdminURL.collection(path.collection(id)), text: DisplayText(id.key.string))
        }
        hasMore = page.next != nil
    }

    private static let limit = 200
}

extension Subcollections: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "links": links
        case "hasLinks": !links.isEmpty
        case "hasMore": hasMore
        default: nil
        }
    }
}
