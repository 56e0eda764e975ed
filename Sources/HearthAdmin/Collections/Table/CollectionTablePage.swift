import DocumentModel
import HTTPTypes

/// A collection as a table with a row for each document and a column for each field.
struct CollectionTablePage: Page {
    static let template = TemplateLibrary.Name.collection

    var layout: PageLayout
    private let model: CollectionViewModel
    private let idHeader: ColumnHeader
    private let headers: [ColumnHeader]
    private let hiddenColumnCount: Int
    private let rows: [CollectionRow]
    private let columnForm: ColumnForm
    /// The sort fields; documents without them are not in the table.
    private let sortedFields: [DisplayText]
    private let unusualCount: Int
    private let liveStream: LiveStreamURL?

    var status: HTTPResponse.Status { model.results.error == nil ? .ok : .badRequest }

    init(_ model: CollectionViewModel) {
        self.model = model
        let results = model.results
        let columns = CollectionColumns(of: model.documents, fields: model.fields, chosen: results.request.columns)
        var values = ValueViewBuilder()
        rows = results.entries.map { entry in
            switch entry {
            case .document(let document): CollectionRow(document, columns: columns.shown, values: &values)
            case .missing(let path): CollectionRow(missing: path)
            }
        }
        idHeader = ColumnHeader(ofIDsIn: results.request)
        headers = columns.shown.map { ColumnHeader($0, in: results.request) }
        hiddenColumnCount = columns.hiddenCount
        columnForm = ColumnForm(results.request, fields: model.fields, shown: columns.shown)
        sortedFields = results.request.orders.filter { !$0.field.isDocumentName }.map { DisplayText($0.field.description) }
        unusualCount = rows.reduce(0) { $0 + $1.unusualCount }
        liveStream = results.liveStream?.showing(columns)
        layout = PageLayout(at: results.request.path.segments)
        layout.colors = values.colors
    }

    private var hiddenColumnsText: String? {
        guard hiddenColumnCount > 0 else { return nil }
        return localized(
            count: hiddenColumnCount,
            one: "{count} more field isn’t shown. Open a document to see all of its fields.",
            other: "{count} more fields aren’t shown. Open a document to see all of its fields."
        )
    }

    private var unusualText: String? {
        guard unusualCount > 0 else { return nil }
        return localized(
            count: unusualCount,
            one: "{count} value differs in type from the rest of its column",
            other: "{count} values differ in type from the rest of their columns"
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
        case "typesURL": model.results.request.url { $0.view = .types }
        case "rowsMarkup": rows.markup(canWrite: layout.scope.principal.canWrite, columnCount: max(1, headers.count))
        case "hasRows": !rows.isEmpty
        case "liveStream": liveStream.orAbsent
        default: model.child(named: name)
        }
    }
}
