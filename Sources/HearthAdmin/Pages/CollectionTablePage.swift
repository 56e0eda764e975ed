import DocumentModel

/// A collection as a table: a row a document, a column a field.
struct CollectionTablePage: Page {
    static let template = TemplateLibrary.Name.collection

    var chrome: PageChrome
    private let navigation: CollectionNavigation
    private let columns: CollectionColumns
    private let rows: [CollectionRow]

    init(_ listing: CollectionListing) {
        let columns = CollectionColumns(of: listing.documents.map(\.fields))
        var values = ValueViewBuilder()
        rows = listing.entries.map { entry in
            switch entry {
            case .document(let document): CollectionRow(document, columns: columns.shown, values: &values)
            case .missing(let path): CollectionRow(missing: path)
            }
        }
        self.columns = columns
        navigation = CollectionNavigation(listing, hasPlaces: GeoPlaces(in: listing.documents).count > 0)
        chrome = PageChrome(at: listing.request.path.segments)
        chrome.colors = values.colors
    }

    private var hiddenColumns: String? {
        guard columns.hidden > 0 else { return nil }
        return localized(
            count: columns.hidden,
            one: "{count} more field than the table shows. The documents’ own pages have them all.",
            other: "{count} more fields than the table shows. The documents’ own pages have them all."
        )
    }

    func content(named name: String) -> Any? {
        switch name {
        case "columns": columns.shown
        case "columnCount": max(1, columns.shown.count)
        case "hiddenColumns": hiddenColumns.orAbsent
        case "rows": rows
        case "hasRows": !rows.isEmpty
        default: navigation.child(named: name)
        }
    }
}
