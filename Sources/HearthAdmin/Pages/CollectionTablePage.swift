import DocumentModel
import HTTPTypes

/// A collection as a table: a row a document, a column a field.
struct CollectionTablePage: Page {
    static let template = TemplateLibrary.Name.collection

    var chrome: PageChrome
    private let frame: CollectionFrame
    private let idHeader: ColumnHeader
    private let headers: [ColumnHeader]
    private let hiddenColumns: Int
    private let rows: [CollectionRow]
    private let columnForm: ColumnForm
    /// The documents without these fields are not in the table.
    private let sortedFields: [DisplayText]
    private let unusualCount: Int
    private let live: LiveView?

    var status: HTTPResponse.Status { frame.listing.fault == nil ? .ok : .badRequest }

    init(_ frame: CollectionFrame) {
        self.frame = frame
        let listing = frame.listing
        let columns = CollectionColumns(of: frame.documents, fields: frame.fields, chosen: listing.request.columns)
        var values = ValueViewBuilder()
        rows = listing.entries.map { entry in
            switch entry {
            case .document(let document): CollectionRow(document, columns: columns.shown, values: &values)
            case .missing(let path): CollectionRow(missing: path)
            }
        }
        idHeader = ColumnHeader(ofIDsIn: listing.request)
        headers = columns.shown.map { ColumnHeader($0, in: listing.request) }
        hiddenColumns = columns.hidden
        columnForm = ColumnForm(listing.request, found: frame.fields, shown: columns.shown)
        sortedFields = listing.request.orders.filter { !$0.field.isDocumentName }.map { DisplayText($0.field.description) }
        unusualCount = rows.reduce(0) { $0 + $1.unusualCount }
        live = listing.live?.showing(columns)
        chrome = PageChrome(at: listing.request.path.segments)
        chrome.colors = values.colors
    }

    private var hiddenColumnsText: String? {
        guard hiddenColumns > 0 else { return nil }
        return localized(
            count: hiddenColumns,
            one: "{count} more field than the table shows. The documents’ own pages have them all.",
            other: "{count} more fields than the table shows. The documents’ own pages have them all."
        )
    }

    private var unusualText: String? {
        guard unusualCount > 0 else { return nil }
        return localized(
            count: unusualCount,
            one: "{count} value has another type than the rest of its column",
            other: "{count} values have another type than the rest of their columns"
        )
    }

    func content(named name: String) -> Any? {
        switch name {
        case "headMarkup": ([idHeader] + headers).markup
        case "hiddenColumns": hiddenColumnsText.orAbsent
        case "columnForm": columnForm
        case "sortedFields": sortedFields
        case "isSorted": !sortedFields.isEmpty
        case "unusualText": unusualText.orAbsent
        case "typesURL": frame.listing.request.url { $0.view = .types }
        case "rowsMarkup": rows.markup(mayWrite: chrome.visit.visitor.mayWrite, columnCount: max(1, headers.count))
        case "hasRows": !rows.isEmpty
        case "live": live.orAbsent
        default: frame.child(named: name)
        }
    }
}
