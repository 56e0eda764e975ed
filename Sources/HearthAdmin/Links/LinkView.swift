import DocumentModel
import UTF8Text

/// A link.
struct LinkView: ViewModel {
    let url: String
    let text: DisplayText
}

extension LinkView {
    /// Creates the link of a document's table row, whose text is the ID, shortened in the middle if it is long.
    init(toRowOf path: DocumentPath) {
        self.init(url: AdminURL.document(path), text: DisplayText(path.id.key.string.truncatingMiddle(toScalars: Self.rowLength)))
    }

    private static let rowLength = 60
}

/// A link of a navigation, such as the breadcrumb.
struct NavigationLink: Sendable {
    let link: LinkView
    /// True if the link leads to the current page.
    let isCurrent: Bool
}

/// One of several options selected by a link, such as a view or a page size. The option of a form is a ``FormOption``.
struct LinkOption: Sendable {
    let text: String
    let url: String
    let isCurrent: Bool
}
