import DocumentModel
import StrictJSON

/// A link with its text.
struct LinkView: Sendable {
    let url: String
    let text: DisplayText
    /// Whether it leads to where the page is.
    var isCurrent = false
}

extension LinkView {
    /// The link in a document's row of a table: its ID, of a long one the beginning and the end.
    init(toRowOf path: DocumentPath) {
        self.init(url: AdminURL.document(path), text: DisplayText(path.id.key.string.shortened(scalars: Self.rowLength)))
    }

    private static let rowLength = 60
}

extension LinkView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "url": url
        case "text": text
        default: nil
        }
    }
}
