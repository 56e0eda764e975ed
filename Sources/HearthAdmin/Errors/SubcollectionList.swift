import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The subcollections of a document as links, and the errors of folders that cannot be read as collections.
struct SubcollectionList: ViewModel {
    private let links: [LinkView]
    let hasLinks: Bool
    /// True if there are more subcollections than listed.
    private let hasMore: Bool
    private let damaged: DamagedFileList?

    /// Lists the first subcollections.
    init(of path: DocumentPath, in context: ServiceContext) async throws(StatusError) {
        let page = try await ListCollections.call(.init(parent: path, pageSize: Self.limit), in: context)
        links = page.collections.map { id in
            LinkView(url: AdminURL.collection(path.collection(id)), text: DisplayText(id.key.string))
        }
        hasLinks = !links.isEmpty
        hasMore = page.next != nil
        damaged = DamagedFileList(page.damaged)
    }

    private static let limit: PageSize = 200
}
