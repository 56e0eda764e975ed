import DocumentModel

/// A document as JSON, as its file holds it, what can't be seen written as escapes.
struct DocumentJSONPage: Page {
    static let template = TemplateLibrary.Name.documentJSON

    var chrome: PageChrome
    private let header: DocumentHeader
    private let json: String

    init(_ document: Document, now: Timestamp) {
        header = DocumentHeader(document, view: .json, now: now)
        json = VisibleJSON.text(DocumentFile.encode(document, storesID: false))
        chrome = PageChrome(at: document.path.segments)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "json": json
        default: header.child(named: name)
        }
    }
}
