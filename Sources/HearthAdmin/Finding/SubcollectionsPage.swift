import DocumentModel
import HearthAPI

/// The page that lists the subcollections of a collection, which the side list loads when a node is opened.
struct SubcollectionsPage: Page {
    static let template = TemplateLibrary.Name.subcollectionsPage

    var layout: PageLayout
    private let name: DisplayText
    private let links: [LinkView]
    private let hasLinks: Bool
    /// The page with the next subcollections; `nil` if all documents were examined.
    private let nextURL: String?
    private let examinedCount: String

    init(_ scan: SubcollectionScan, of path: CollectionPath) {
        layout = PageLayout(at: path.segments)
        name = DisplayText(path.string)
        links = scan.children(of: path).map { LinkView(url: AdminURL.collection($0), text: DisplayText($0.string)) }
        hasLinks = !links.isEmpty
        nextURL = scan.last.map { AdminURL.subcollections(of: path, after: $0) }
        examinedCount = NumberFormat.grouped(Self.scanLimit)
    }

    /// The maximum number of documents that a page examines.
    static let scanLimit = 500
}
