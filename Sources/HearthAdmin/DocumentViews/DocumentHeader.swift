import DocumentModel
import UTF8Text

/// The header shared by the views of a document: its ID, size and timestamps, and links to the views.
struct DocumentHeader: Sendable {
    /// A view of a document.
    enum View: Sendable {
        case fields
        case json
    }

    private let heading: PathHeading
    private let path: DocumentPath
    private let size: String
    private let created: Moment
    private let updated: Moment
    private let views: [LinkOption]

    init(_ document: Document, view: View, now: Timestamp) {
        heading = PathHeading(document.path.segments)
        path = document.path
        size = localized(
            count: Document.size(of: document.fields, at: document.path),
            one: "{count} byte",
            other: "{count} bytes"
        )
        created = Moment(document.createTime, now: now)
        updated = Moment(document.updateTime, now: now)
        let url = AdminURL.document(document.path)
        views = [
            LinkOption(text: localized("Fields"), url: url, isCurrent: view == .fields),
            LinkOption(
                text: "JSON",
                url: AdminURL.document(document.path, query: [("view", "json")]),
                isCurrent: view == .json
            ),
            LinkOption(text: localized("File"), url: AdminURL.file(of: document.path), isCurrent: false),
        ]
    }
}

extension DocumentHeader: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "size": size
        case "created": created
        case "updated": updated
        case "viewsMarkup": views.itemsMarkup(current: "page")
        case "editURL": EditTarget(path).url(asJSON: false)
        case "duplicateURL":
            EditTarget(newIn: path.collection).url(asJSON: false) + "&from=" + PercentEncoding.encode(path.id.key)
        case "historyURL": AdminURL.history(of: path)
        case "deleteURL": AdminURL.document(path) + "?delete"
        default: heading.child(named: name)
        }
    }
}
