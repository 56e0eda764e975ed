import DocumentModel
import HTTPTypes
import UTF8Text

/// The page of a missing document, with its subcollections, if any.
struct MissingDocumentPage: Page {
    static let template = TemplateLibrary.Name.missingDocument

    let status = HTTPResponse.Status.notFound
    var layout: PageLayout
    private let path: DocumentPath
    private let heading: PathHeading
    private let subcollections: SubcollectionList
    private let collection: LinkView

    init(_ path: DocumentPath, subcollections: SubcollectionList) {
        self.path = path
        heading = PathHeading(path.segments)
        collection = LinkView(url: AdminURL.collection(path.collection), text: DisplayText(path.collection.id.key.string))
        self.subcollections = subcollections
        layout = PageLayout(at: path.segments)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "collection": collection
        case "createURL": EditTarget(newIn: path.collection).url(asJSON: false) + "&id=" + PercentEncoding.encode(path.id.key)
        case "historyURL": AdminURL.history(of: path)
        case "subcollections": subcollections
        default: heading.child(named: name)
        }
    }
}
