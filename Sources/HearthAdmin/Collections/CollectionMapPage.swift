import DocumentModel
import UTF8Text

/// A collection as a map with a marker for each geo point in its documents, and a list of the points.
struct CollectionMapPage: Page {
    static let template = TemplateLibrary.Name.collectionMap

    /// A row of the list.
    struct Entry: ViewModel {
        let link: LinkView
        let field: DisplayText
        let geoPoint: GeoPointView
    }

    /// A button on the map that shows another area.
    struct Move: ViewModel {
        let id: String
        let url: String
        let name: String
        let symbol: String
    }

    var layout: PageLayout
    private let collection: CollectionControls
    private let liveStream: LiveStreamView?
    private let map: MapView?
    private let entries: [Entry]
    /// The number of points shown and in total; `nil` if all are shown.
    private let truncationNote: String?
    private let viewportsMarkup: Markup
    private let moves: [Move]
    /// The page filtered by the map's area; `nil` if the points are in several fields.
    private let filteredURL: String?
    private let visibleCount: String?

    init(_ contents: CollectionContents) {
        collection = contents.controls
        liveStream = contents.liveStream
        let request = contents.results.request
        let matches = contents.geoPoints.matches.elements
        truncationNote = contents.geoPoints.truncationNote
        let viewport = request.viewport ?? MapViewport(around: matches.map(\.point))
        let points = matches.map { match in
            MapView.Point(
                point: match.point,
                label: LinkView(toRowOf: match.document).text,
                url: AdminURL.document(match.document)
            )
        }
        map = points.isEmpty ? nil : MapView(of: points, in: viewport) { zoomed in request.url { $0.viewport = zoomed } }
        let visible = matches.filter { viewport.contains($0.point) }
        entries = visible.map { match in
            Entry(
                link: LinkView(toRowOf: match.document),
                field: DisplayText(match.field),
                geoPoint: GeoPointView(match.point, detail: .listed)
            )
        }
        visibleCount =
            visible.count < points.count
            ? localized(
                "{shown} of {total} geo points are in this area.",
                ["shown": NumberFormat.grouped(visible.count), "total": NumberFormat.grouped(points.count)]
            )
            : nil
        let fits = [(localized("Fit to data"), nil), (localized("World"), MapViewport.world)].map { text, choice in
            LinkOption(text: text, url: request.url { $0.viewport = choice }, isCurrent: choice == request.viewport)
        }
        viewportsMarkup = fits.itemsMarkup(current: "true")
        moves = Self.moves(from: viewport, in: request)
        filteredURL = Self.filteredURL(request, in: viewport, matches: matches)
        layout = PageLayout(at: request.path.segments)
    }

    private static func moves(from viewport: MapViewport, in request: CollectionRequest) -> [Move] {
        let all: [(id: String, symbol: String, name: String, choice: MapViewport)] = [
            ("in", "+", localized("Zoom in"), viewport.scaled(by: 0.5)),
            ("out", "−", localized("Zoom out"), viewport.scaled(by: 2)),
            ("west", "←", localized("West"), viewport.moved(east: -0.5, north: 0)),
            ("east", "→", localized("East"), viewport.moved(east: 0.5, north: 0)),
            ("north", "↑", localized("North"), viewport.moved(east: 0, north: 0.5)),
            ("south", "↓", localized("South"), viewport.moved(east: 0, north: -0.5)),
        ]
        return all.filter { $0.choice != viewport }.map { move in
            Move(id: move.id, url: request.url { $0.viewport = move.choice }, name: move.name, symbol: move.symbol)
        }
    }

    /// Returns the URL with a `within` filter on the one field that contains all points.
    private static func filteredURL(
        _ request: CollectionRequest,
        in viewport: MapViewport,
        matches: [GeoPointCollector.Match]
    ) -> String? {
        guard request.viewport != nil, viewport != .world, request.filters.count < CollectionRequest.maximumFilterCount,
            let field = matches.first?.field, matches.allSatisfy({ UTF8Key($0.field) == UTF8Key(field) }),
            let path = try? FieldPath(field), let corners = viewport.corners
        else { return nil }
        var row = FilterRow()
        row.field = FieldPathText.text(path)
        row.op = .within
        row.operand = ValueInput(GeoFilterOperand(southWest: corners.southWest, northEast: corners.northEast).text, as: .geoPoint)
        return request.url { request in
            request.filters.append(row)
            request.cursor = nil
        }
    }
}

extension MapViewport {
    /// The corners of the viewport, with normalized longitudes.
    fileprivate var corners: (southWest: GeoPoint, northEast: GeoPoint)? {
        var east = west + width
        if east > 180 { east -= 360 }
        guard let southWest = try? GeoPoint(validatingLatitude: max(north - height, -90), longitude: west),
            let northEast = try? GeoPoint(validatingLatitude: north, longitude: east)
        else { return nil }
        return (southWest, northEast)
    }
}
