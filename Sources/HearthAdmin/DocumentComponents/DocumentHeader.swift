import DocumentModel
import UTF8Text

/// The header shared by the views of a document: its ID, size and timestamps, and links to the views.
struct DocumentHeader: ViewModel {
    /// A view of a document.
    enum View: Sendable {
        case fields
        case json
    }

    private let heading: PathHeading
    private let size: String
    private let created: RelativeTimeView
    private let updated: RelativeTimeView
    private let viewsMarkup: Markup
    private let editURL: String
    private let duplicateURL: String
    private let historyURL: String
    private let referencesURL: String
    private let deleteURL: String

    /// - Parameter page: The page that the editor returns to; `nil` for that of the document.
    init(_ document: Document, view: View, page: ReturnURL? = nil, now: Timestamp) {
        heading = PathHeading(document.path.segments)
        size = localized(
            count: Document.size(of: document.fields, at: document.path),
            one: "{count} byte",
            other: "{count} bytes"
        )
        created = RelativeTimeView(document.createTime, now: now)
        updated = RelativeTimeView(document.updateTime, now: now)
        let url = AdminURL.document(document.path)
        viewsMarkup = [
            LinkOption(text: localized("Fields"), url: url, isCurrent: view == .fields),
            LinkOption(
                text: "JSON",
                url: AdminURL.document(document.path, query: [("view", "json")]),
                isCurrent: view == .json
            ),
        ]
        .itemsMarkup(current: "page")
        var target = EditTarget(document.path)
        target.next = page
        editURL = target.url(asJSON: false)
        duplicateURL =
            EditTarget(newIn: document.path.collection).url(asJSON: false) + "&from="
            + PercentEncoding.encode(document.path.id.key)
        historyURL = AdminURL.history(of: document.path)
        referencesURL = AdminURL.references(to: document.path)
        deleteURL = url + "?delete"
    }
}
