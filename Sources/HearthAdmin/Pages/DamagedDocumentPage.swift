import DocumentModel
import HTTPTypes

/// A document whose file can't be read: what is wrong with it and where, how to mend it, and the collections under it.
///
/// Where the document itself was asked for it is sent with the status 200: neither the request nor the server is at fault.
struct DamagedDocumentPage: Page {
    static let template = TemplateLibrary.Name.damaged

    var chrome: PageChrome
    let status: HTTPResponse.Status
    private let heading: PathHeading
    private let file: DamagedFile
    private let path: DocumentPath
    private let subcollections: Subcollections

    /// - Parameter status: Another status where something was to be done with the document.
    init(_ path: DocumentPath, _ error: StatusError, subcollections: Subcollections, status: HTTPResponse.Status = .ok) {
        self.status = status
        heading = PathHeading(path.segments)
        file = DamagedFile(error)
        self.path = path
        self.subcollections = subcollections
        chrome = PageChrome(at: path.segments)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "file": file
        case "fileURL": AdminURL.file(of: path)
        case "historyURL": AdminURL.history(of: path)
        case "subcollections": subcollections
        default: heading.child(named: name)
        }
    }
}
