import DocumentModel
import HTTPTypes
import UTF8Text

/// The page of a missing document, with its subcollections, if any.
struct MissingDocumentPage: Page {
    static let template = TemplateLibrary.Name.missingDocument

    let status = HTTPResponse.Status.notFound
    var layout: PageLayout
    private let heading: PathHeading
    private let createURL: String
    private let historyURL: String
    private let referencesURL: String
    private let subcollections: SubcollectionList
    private let collection: LinkView

    init(_ path: DocumentPath, subcollections: SubcollectionList) {
        heading = PathHeading(path.segments)
        createURL = EditTarget(newIn: path.collection).url(asJSON: false) + "&id=" + PercentEncoding.encode(path.id.key)
        historyURL = AdminURL.history(of: path)
        referencesURL = AdminURL.references(to: path)
        collection = LinkView(url: AdminURL.collection(path.collection), text: DisplayText(path.collection.id.key.string))
        self.subcollections = subcollections
        layout = PageLayout(at: path.segments)
    }
}
