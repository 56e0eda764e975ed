import DocumentModel
import HTTPTypes

/// The form for the ID of a new collection, or of a new subcollection of a document. The collection is created with its first
/// document.
struct NewCollectionPage: Page {
    static let template = TemplateLibrary.Name.newCollection

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let collection: FormField
    private let problemAlert: ProblemAlert?
    private let action: String
    private let cancelURL: String
    /// The document of a subcollection; `nil` for a collection named by its path.
    private let parent: LinkView?

    /// - Parameter parent: The document of a subcollection; `nil` for a collection named by its path.
    init(below parent: DocumentPath?, input: String = "", problems: FormProblems = FormProblems()) {
        layout =
            parent.map { PageLayout(at: $0.segments, for: localized("New subcollection")) }
            ?? PageLayout(title: localized("New collection"))
        action = parent.map { AdminURL.newSubcollection(of: $0) } ?? AdminURL.newCollection
        cancelURL = parent.map { AdminURL.document($0) } ?? AdminURL.overview
        self.parent = parent.map {
            LinkView(url: AdminURL.document($0), text: DisplayText($0.string.truncatingMiddle(toScalars: 160)))
        }
        status = problems.status
        collection = FormField("collection", input, problems: problems)
        problemAlert = ProblemAlert(problems)
    }
}
