import DocumentModel

/// A document's page: its fields with their types, a map of its geo points, and its subcollections.
struct DocumentFieldsPage: Page {
    static let template = TemplateLibrary.Name.document

    var layout: PageLayout
    private let header: DocumentHeader
    private let fields: FieldRowList
    private let map: MapView?
    /// The number of geo points shown and in total; nil when all are shown.
    private let truncationNote: String?
    private let subcollections: SubcollectionList
    private let liveStream: LiveStreamURL?

    init(_ document: Document, subcollections: SubcollectionList, liveStream: LiveStreamURL?, now: Timestamp) {
        self.liveStream = liveStream
        header = DocumentHeader(document, view: .fields, now: now)
        fields = FieldRowList(of: document.fields)
        var geoPoints = GeoPointCollector()
        LeafFieldVisitor.forEachValue(of: document) { value, path in geoPoints.collect(value, in: document, path: path) }
        truncationNote = geoPoints.truncationNote
        let points = geoPoints.matches.elements.map { MapView.Point(point: $0.point, label: DisplayText($0.field), url: nil) }
        map = points.isEmpty ? nil : MapView(of: points, in: MapViewport(around: points.map(\.point)))
        self.subcollections = subcollections
        layout = PageLayout(at: document.path.segments)
        layout.colors = fields.values.colors
    }

    private var hiddenRows: String? {
        guard fields.hiddenCount > 0 else { return nil }
        return localized(
            count: fields.hiddenCount,
            one: "{count} more row isn’t shown. The JSON view has all fields.",
            other: "{count} more rows aren’t shown. The JSON view has all fields."
        )
    }

    func content(named name: String) -> Any? {
        switch name {
        case "rows": fields.rows
        case "hasRows": !fields.rows.isEmpty
        case "hiddenRows": hiddenRows.orAbsent
        case "map": map.orAbsent
        case "truncationNote": truncationNote.orAbsent
        case "subcollections": subcollections
        case "liveStream": liveStream.orAbsent
        default: header.child(named: name)
        }
    }
}
