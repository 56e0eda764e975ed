import DocumentModel

/// A document's page: its fields with their types, a map of its geo points, and its subcollections.
struct DocumentFieldsPage: Page {
    static let template = TemplateLibrary.Name.document

    var layout: PageLayout
    private let header: DocumentHeader
    private let fields: DocumentFields
    private let map: MapView?
    /// The number of geo points shown and in total; `nil` if all are shown.
    private let truncationNote: String?
    private let subcollections: SubcollectionList
    private let liveStream: LiveStreamView?

    /// - Parameters:
    ///   - canWrite: Whether the user may change the document.
    ///   - expanded: The path of the map or array of which more than the first values are shown; `nil` for none.
    init(
        _ document: Document,
        subcollections: SubcollectionList,
        liveStream: LiveStreamURL?,
        canWrite: Bool,
        expanding expanded: String?,
        now: Timestamp
    ) {
        self.liveStream = liveStream.map(LiveStreamView.init)
        header = DocumentHeader(document, view: .fields, now: now)
        let rows = FieldRowList(of: document, canWrite: canWrite, expanding: expanded)
        fields = DocumentFields(rows)
        var geoPoints = GeoPointCollector()
        LeafFieldVisitor.forEachValue(of: document) { value, path in geoPoints.collect(value, in: document, path: path) }
        truncationNote = geoPoints.truncationNote
        let points = geoPoints.matches.elements.map { MapView.Point(point: $0.point, label: DisplayText($0.field), url: nil) }
        map = points.isEmpty ? nil : MapView(of: points, in: MapViewport(around: points.map(\.point)))
        self.subcollections = subcollections
        layout = PageLayout(at: document.path.segments)
        layout.colors = rows.values.colors
        layout.scriptlessRules = rows.rows.foldRules
    }
}
