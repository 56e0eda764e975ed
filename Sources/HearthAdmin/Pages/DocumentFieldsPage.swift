import DocumentModel

/// A document: its fields with their types, the places in it on a map, the collections under it.
struct DocumentFieldsPage: Page {
    static let template = TemplateLibrary.Name.document

    var chrome: PageChrome
    private let header: DocumentHeader
    private let fields: FieldRows
    private let map: MapView?
    /// How many places the map shows of how many.
    private let placesExtent: String?
    private let subcollections: Subcollections
    private let live: LiveView?

    init(_ document: Document, subcollections: Subcollections, live: LiveView?, now: Timestamp) {
        self.live = live
        header = DocumentHeader(document, view: .fields, now: now)
        fields = FieldRows(of: document.fields)
        var geoPlaces = GeoPlaces()
        FieldWalk.forEachValue(of: document) { value, name in geoPlaces.look(at: value, in: document, named: name) }
        placesExtent = geoPlaces.extent
        let places = geoPlaces.found.elements.map { MapView.Place(point: $0.point, label: DisplayText($0.field), url: nil) }
        map = places.isEmpty ? nil : MapView(of: places, in: MapFrame(around: places.map(\.point)))
        self.subcollections = subcollections
        chrome = PageChrome(at: document.path.segments)
        chrome.colors = fields.values.colors
    }

    private var hiddenRows: String? {
        guard fields.hidden > 0 else { return nil }
        return localized(
            count: fields.hidden,
            one: "{count} more line than is shown here. The JSON has them all.",
            other: "{count} more lines than are shown here. The JSON has them all."
        )
    }

    func content(named name: String) -> Any? {
        switch name {
        case "rows": fields.rows
        case "hasRows": !fields.rows.isEmpty
        case "hiddenRows": hiddenRows.orAbsent
        case "map": map.orAbsent
        case "extent": placesExtent.orAbsent
        case "subcollections": subcollections
        case "live": live.orAbsent
        default: header.child(named: name)
        }
    }
}
