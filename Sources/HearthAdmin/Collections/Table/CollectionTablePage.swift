import DocumentModel
import HTTPTypes

/// A collection as a table with a row for each document and a column for each field.
struct CollectionTablePage: Page {
    static let template = TemplateLibrary.Name.collection

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let collection: CollectionControls
    private let liveStream: LiveStreamView?
    private let columnForm: ColumnForm
    private let headMarkup: Markup
    private let hasRows: Bool
    /// True if the cells have links that filter by their values.
    private let offersValueFilters: Bool
    /// The page with these links, or without them.
    private let valueFiltersURL: String
    private let rowsMarkup: Markup
    /// The number of columns beyond the limit; `nil` if all are shown.
    private let hiddenColumns: String?
    private let isSorted: Bool
    /// The sort fields; documents without them are not in the table.
    private let sortedFields: [DisplayText]
    /// The number of values with an unusual type; `nil` if there are none.
    private let unusualText: String?
    private let typesURL: String

    /// The approximate size of the links in cells beyond which a table has none.
    private static let maximumLinkBytes = 4 << 20

    /// - Parameters:
    ///   - layout: The layout of the table that the browser keeps.
    ///   - canWrite: Whether the user may change documents; the rows then have checkboxes.
    init(_ contents: CollectionContents, layout tableLayout: TableLayout, canWrite: Bool) {
        let results = contents.results
        let columns = CollectionColumns(
            of: contents.documents,
            chosen: results.request.columns,
            pinned: tableLayout.pinned
        )
        var values = ValueViewBuilder()
        // The links of each cell repeat the URL.
        let linkBytes = results.entries.count * columns.shown.count * 2 * results.request.url().utf8.count
        let filtered = results.request.offersValueFilters && linkBytes <= Self.maximumLinkBytes ? results.request : nil
        let rows = results.entries.map { entry in
            switch entry {
            case .document(let document):
                CollectionRow(document, columns: columns.shown, filtering: filtered, canWrite: canWrite, values: &values)
            case .missing(let path): CollectionRow(missing: path)
            }
        }
        status = results.error == nil ? .ok : .badRequest
        collection = contents.controls
        // A table whose values are selected stays as it is.
        liveStream = filtered == nil ? results.liveStream?.showing(columns).map(LiveStreamView.init) : nil
        offersValueFilters = results.request.offersValueFilters
        valueFiltersURL = results.request.url { $0.offersValueFilters.toggle() }
        columnForm = ColumnForm(results.request, fields: contents.fields, shown: columns.shown, layout: tableLayout)
        headMarkup =
            ([ColumnHeader(ofIDsIn: results.request)] + columns.shown.map { ColumnHeader($0, in: results.request) }).markup
        hasRows = !rows.isEmpty
        rowsMarkup = rows.markup(canWrite: canWrite, columnCount: max(1, columns.shown.count))
        hiddenColumns = Self.text(ofHiddenColumns: columns.hiddenCount)
        sortedFields = results.request.orders.filter { !$0.field.isDocumentName }.map { DisplayText($0.field.description) }
        isSorted = !sortedFields.isEmpty && !contents.isExhaustive
        unusualText = Self.text(ofUnusualValues: rows.reduce(0) { $0 + $1.unusualCount })
        typesURL = results.request.url { $0.view = .types }
        layout = PageLayout(at: results.request.path.segments)
        layout.colors = values.colors
        layout.columnRules = tableLayout.rules(for: columns.shown.map(\.path), canWrite: canWrite)
    }

    private static func text(ofHiddenColumns count: Int) -> String? {
        guard count > 0 else { return nil }
        return localized(
            count: count,
            one: "{count} more field isn’t shown. Open a document to see all of its fields.",
            other: "{count} more fields aren’t shown. Open a document to see all of its fields."
        )
    }

    private static func text(ofUnusualValues count: Int) -> String? {
        guard count > 0 else { return nil }
        return localized(
            count: count,
            one: "{count} value differs in type from the rest of its column",
            other: "{count} values differ in type from the rest of their columns"
        )
    }
}
