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
    private let newSubcollectionURL: String

    /// Lists the first subcollections.
    ///
    /// - Parameter view: The view that the links lead to.
    init(
        of path: DocumentPath,
        in context: ServiceContext,
        view: CollectionRequest.View = .table
    ) async throws(StatusError) {
        let page = try await ListCollections.call(.init(parent: path, pageSize: Self.limit), in: context)
        links = page.collections.map { id in
            var request = CollectionRequest(path: path.collection(id))
            request.view = view
            return LinkView(url: request.url(), text: DisplayText(id.key.string))
        }
        hasLinks = !links.isEmpty
        hasMore = page.next != nil
        damaged = DamagedFileList(page.damaged)
        newSubcollectionURL = AdminURL.newSubcollection(of: path)
    }

    private static let limit: PageSize = 200
}
