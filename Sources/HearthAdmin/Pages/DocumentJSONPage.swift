import DocumentModel

/// A document as JSON, as its file holds it, what can't be seen written as escapes.
struct DocumentJSONPage: Page {
    static let template = TemplateLibrary.Name.documentJSON

    var chrome: PageChrome
    private let header: DocumentHeader
    private let json: String

    init(_ document: Document, now: Timestamp) {
        header = DocumentHeader(document, view: .json, now: now)
        json = Self.visible(String(decoding: DocumentFile.encode(document, storesID: false), as: UTF8.self))
        chrome = PageChrome(at: document.path.segments)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "json": json
        default: header.child(named: name)
        }
    }
}

extension DocumentJSONPage {
    /// The same JSON, invisible characters escaped: they can stand only within strings.
    private static func visible(_ json: String) -> String {
        DisplayText(json, lines: .multiple).runs.map { run in
            (run.mark?.scalar).map { String($0).utf16.map(escape).joined() + run.text } ?? run.text
        }.joined()
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}
