import DocumentModel
import HTTPTypes

/// The page of a document whose file cannot be read: the error with its position, ways to repair it, and the subcollections.
///
/// A request for the document itself gets the status 200, since neither the request nor the server is at fault.
struct DamagedDocumentPage: Page {
    static let template = TemplateLibrary.Name.damagedDocument

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let heading: PathHeading
    private let file: DamagedFileView
    private let fileURL: String
    private let historyURL: String
    private let subcollections: SubcollectionList

    /// - Parameter status: The status; an error status for a request to change the document.
    init(_ path: DocumentPath, _ error: StatusError, subcollections: SubcollectionList, status: HTTPResponse.Status = .ok) {
        self.status = status
        heading = PathHeading(path.segments)
        file = DamagedFileView(error)
        fileURL = AdminURL.file(of: path)
        historyURL = AdminURL.history(of: path)
        self.subcollections = subcollections
        layout = PageLayout(at: path.segments)
    }
}
