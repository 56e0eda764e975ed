import DocumentModel

/// A document as JSON in the format of its file, with invisible characters escaped.
struct DocumentJSONPage: Page {
    static let template = TemplateLibrary.Name.documentJSON

    var layout: PageLayout
    private let header: DocumentHeader
    private let json: String
    private let fileURL: String

    init(_ document: Document, now: Timestamp) {
        header = DocumentHeader(document, view: .json, now: now)
        json = EscapedJSON.text(DocumentFile.encode(document, storesID: false))
        fileURL = AdminURL.file(of: document.path)
        layout = PageLayout(at: document.path.segments)
    }
}
