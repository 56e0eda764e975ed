import DocumentModel
import HTTPTypes
import StrictJSON

/// A document that doesn't exist, and the collections under it, which may.
struct MissingDocumentPage: Page {
    static let template = TemplateLibrary.Name.missing

    let status = HTTPResponse.Status.notFound
    var chrome: PageChrome
    private let path: DocumentPath
    private let heading: PathHeading
    private let subcollections: Subcollections
    private let collection: LinkView

    init(_ path: DocumentPath, subcollections: Subcollections) {
        self.path = path
        heading = PathHeading(path.segments)
        collection = LinkView(url: AdminURL.collection(path.collection), text: DisplayText(path.collection.id.key.string))
        self.subcollections = subcollections
        chrome = PageChrome(at: path.segments)
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
