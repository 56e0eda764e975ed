import DocumentModel

/// A document whose file can't be read: what is wrong with it and where, how to mend it, and the collections under it.
///
/// It is sent with the status 200: the page is what was asked for, and neither the request nor the server is at fault.
struct DamagedDocumentPage: Page {
    static let template = TemplateLibrary.Name.damaged

    var chrome: PageChrome
    private let heading: PathHeading
    private let file: DamagedFile
    private let fileURL: String
    private let subcollections: Subcollections

    init(_ path: DocumentPath, _ error: StatusError, subcollections: Subcollections) {
        heading = PathHeading(path.segments)
        file = DamagedFile(error)
        fileURL = AdminURL.file(of: path)
        self.subcollections = subcollections
        chrome = PageChrome(at: path.segments)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "file": file
        case "fileURL": fileURL
        case "subcollections": subcollections
        default: heading.child(named: name)
        }
    }
}
