import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The page with the documents that refer to a document.
struct ReferencesPage: Page {
    static let template = TemplateLibrary.Name.references

    /// The documents that refer to it in one field.
    struct Referrers: ViewModel {
        let number: Int
        let collectionName: DisplayText
        let field: DisplayText
        let links: [LinkView]
        /// The collection filtered to these documents; `nil` if it would be too long, and for a collection group.
        let allURL: String?
        let hasMore: Bool

        fileprivate init(_ match: ReferenceScan.Match, number: Int, to document: DocumentPath) {
            self.number = number
            field = DisplayText(match.field.description)
            links = match.documents.map {
                LinkView(url: AdminURL.document($0), text: DisplayText($0.string.truncatingMiddle(toScalars: 160)))
            }
            hasMore = match.hasMore
            switch match.source {
            case .collection(let path):
                collectionName = DisplayText(path.string)
                allURL = ValueFilter(
                    field: match.field,
                    value: .reference(document),
                    relation: match.isElement ? .containing : .only
                )
                .url(in: CollectionRequest(path: path))
            case .group(let id):
                (collectionName, allURL) = (DisplayText(id.key.string), nil)
            }
        }
    }

    var layout: PageLayout
    private let heading: PathHeading
    private let returnURL: String
    private let referrers: [Referrers]
    private let hasReferrers: Bool
    private let isPartial: Bool
    private let omitsSubcollections: Bool
    private let sampleCount = NumberFormat.grouped(ReferenceScan.sampleSize)

    init(_ scan: ReferenceScan, to document: DocumentPath) {
        heading = PathHeading(document.segments)
        returnURL = AdminURL.document(document)
        referrers = scan.matches.enumerated().map { Referrers($1, number: $0, to: document) }
        hasReferrers = !referrers.isEmpty
        isPartial = scan.isPartial
        omitsSubcollections = scan.omitsSubcollections
        layout = PageLayout(at: document.segments, for: localized("References"))
    }
}

extension AdminURL {
    /// The documents that refer to a document.
    static func references(to path: DocumentPath) -> String { document(path) + "?references" }
}
