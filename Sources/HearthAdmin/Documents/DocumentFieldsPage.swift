import DocumentModel

/// A document's page: its fields with their types, a map of its geo points, and its subcollections.
struct DocumentFieldsPage: Page {
    static let template = TemplateLibrary.Name.document

    var layout: PageLayout
    private let header: DocumentHeader
    private let hasRows: Bool
    private let rowsMarkup: Markup
    /// The number of rows beyond the limit; `nil` if all are shown.
    private let hiddenRows: String?
    private let map: MapView?
    /// The number of geo points shown and in total; `nil` if all are shown.
    private let truncationNote: String?
    private let subcollections: SubcollectionList
    private let liveStream: LiveStreamView?

    /// - Parameter canWrite: Whether the user may change the document.
    init(
        _ document: Document,
        subcollections: SubcollectionList,
        liveStream: LiveStreamURL?,
        canWrite: Bool,
        now: Timestamp
    ) {
        self.liveStream = liveStream.map(LiveStreamView.init)
        header = DocumentHeader(document, view: .fields, now: now)
        let fields = FieldRowList(of: document, canWrite: canWrite)
        hasRows = !fields.rows.isEmpty
        rowsMarkup = fields.rows.markup
        hiddenRows =
            fields.hiddenCount > 0
            ? localized(
                count: fields.hiddenCount,
                one: "{count} more row isn’t shown. The JSON view shows all fields.",
                other: "{count} more rows aren’t shown. The JSON view shows all fields."
            ) : nil
        var geoPoints = GeoPointCollector()
        LeafFieldVisitor.forEachValue(of: document) { value, path in geoPoints.collect(value, in: document, path: path) }
        truncationNote = geoPoints.truncationNote
        let points = geoPoints.matches.elements.map { MapView.Point(point: $0.point, label: DisplayText($0.field), url: nil) }
        map = points.isEmpty ? nil : MapView(of: points, in: MapViewport(around: points.map(\.point)))
        self.subcollections = subcollections
        layout = PageLayout(at: document.path.segments)
        layout.colors = fields.values.colors
    }
}
