import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The subcollections of a document as links, and the errors of folders that can't be read as collections.
struct SubcollectionList: Sendable {
    let links: [LinkView]
    /// True if there are more subcollections than listed.
    let hasMore: Bool
    private let damaged: DamagedFileList?

    /// Lists the first subcollections.
    init(of path: DocumentPath, in context: ServiceContext) async throws(StatusError) {
        let page = try await ListCollections.call(.init(parent: path, pageSize: Self.limit), in: context)
        links = page.collections.map { id in
            LinkView(url: AdminURL.collection(path.collection(id)), text: DisplayText(id.key.string))
        }
        hasMore = page.next != nil
        damaged = DamagedFileList(page.damaged)
    }

    private static let limit: PageSize = 200
}

extension SubcollectionList: ViewModel {
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
