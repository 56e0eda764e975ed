import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// The collections under a document, as links, and what lies among them and is none.
struct Subcollections: Sendable {
    let links: [LinkView]
    /// Whether there are more than are listed.
    let hasMore: Bool
    private let damaged: DamagedFiles?

    /// Reads the first of them.
    init(of path: DocumentPath, in context: ServiceContext) async throws(StatusError) {
        let page = try await ListCollections.call(.init(parent: path, pageSize: Self.limit), in: context)
        links = page.collections.map { id in
            LinkView(url: AdminURL.collection(path.collection(id)), text: DisplayText(id.key.string))
        }
        hasMore = page.next != nil
        damaged = DamagedFiles(page.damaged)
    }

    private static let limit: PageSize = 200
}

extension Subcollections: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "links": links
        case "hasLinks": !links.isEmpty
        case "hasMore": hasMore
        case "damaged": damaged.orAbsent
        default: nil
        }
    }
}
