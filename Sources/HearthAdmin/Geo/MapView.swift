import DocumentModel

/// A map of geo points, drawn as SVG without tiles: coastlines, graticule and markers.
struct MapView: Sendable {
    /// A geo point with its label.
    struct Point: Sendable {
        let point: GeoPoint
        /// A document's ID or a field's path.
        let label: DisplayText
        /// The page of the point's document, unless it is the current page.
        let url: String?
    }

    /// A marker of one point, or of a cluster of points too close to be distinguished.
    struct Marker: Sendable {
        let x: Double
        let y: Double
        let title: String
        let url: String?
        /// The number of points in the cluster.
        let count: Int
    }

    let viewport: MapViewport
    let markers: [Marker]
    let count: Int

    /// Draws the points that the viewport contains.
    ///
    /// - Parameter zoom: Returns the URL of the page with a smaller viewport; nil when the map can't be zoomed.
    init(of points: [Point], in viewport: MapViewport, zoom: ((MapViewport) -> String)? = nil) {
        self.viewport = viewport
        let points = points.filter { viewport.contains($0.point) }
        count = points.count
        markers = Self.markers(of: points, in: viewport, zoom: zoom)
    }

    private static func markers(of points: [Point], in viewport: MapViewport, zoom: ((MapViewport) -> String)?) -> [Marker] {
        struct Cluster {
            let x: Double
            let y: Double
            var points: [Point]
        }
        // The first point of a cluster sets its position; points that its marker would cover join it.
        let size = viewport.width / Self.markersAcross
        var clusters: [Cluster] = []
        for point in points {
            let (x, y) = viewport.position(of: point.point)
            if let near = clusters.firstIndex(where: { abs($0.x - x) < size && abs($0.y - y) < size }) {
                clusters[near].points.append(point)
            } else {
                clusters.append(Cluster(x: x, y: y, points: [point]))
            }
        }
        return clusters.map { marker(x: $0.x, y: $0.y, of: $0.points, in: viewport, zoom: zoom) }
    }

    private static let markersAcross = 44.0

    private static func marker(
        x: Double,
        y: Double,
        of points: [Point],
        in viewport: MapViewport,
        zoom: ((MapViewport) -> String)?
    ) -> Marker {
        let names = points.prefix(5).map { "\($0.label.plain): \(CoordinateFormat.decimal($0.point))" }
        let rest = points.count - names.count
        return Marker(
            x: x,
            y: y,
            title: (names + (rest > 0 ? [localized(count: rest, one: "and {count} more", other: "and {count} more")] : []))
                .joined(separator: "; "),
            url: points.count == 1 ? points[0].url : Self.zoomedViewport(around: points, in: viewport).flatMap { zoom?($0) },
            count: points.count
        )
    }
}

extension MapView {
    /// Returns a smaller viewport that separates points; nil when they coincide or the map can't zoom in further.
    private static func zoomedViewport(around points: [Point], in viewport: MapViewport) -> MapViewport? {
        let points = points.map(\.point)
        guard points.contains(where: { $0 != points[0] }) else { return nil }
        let zoomed = MapViewport(closeAround: points)
        return zoomed.width < viewport.width ? zoomed : nil
    }

    private var viewBox: String {
        [viewport.west, -viewport.north, viewport.width, viewport.height].map(Self.number).joined(separator: " ")
    }

    /// The lines of the graticule as the data of one SVG path.
    private var graticule: String {
        let step = viewport.graticuleStep
        let meridians = Self.multiples(of: step, from: viewport.west, to: viewport.west + viewport.width)
            .map { "M\(Self.number($0)) \(Self.number(-viewport.north))v\(Self.number(viewport.height))" }
        let parallels = Self.multiples(of: step, from: -viewport.north, to: viewport.height - viewport.north)
            .map { "M\(Self.number(viewport.west)) \(Self.number($0))h\(Self.number(viewport.width))" }
        return (meridians + parallels).joined()
    }

    private static func multiples(of step: Double, from lower: Double, to upper: Double) -> [Double] {
        let (first, last) = (Int((lower / step).rounded(.up)), Int((upper / step).rounded(.down)))
        return first <= last ? (first...last).map { Double($0) * step } : []
    }

    /// Formats a coordinate for SVG with at most three decimal places.
    fileprivate static func number(_ value: Double) -> String {
        let thousandths = Int((value * 1000).rounded())
        return thousandths.isMultiple(of: 1000) ? String(thousandths / 1000) : (Double(thousandths) / 1000).description
    }
}

extension MapView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "viewBox": viewBox
        case "graticule": graticule
        case "step": CoordinateFormat.number(viewport.graticuleStep)
        case "landOffsets": viewport.landOffsets
        case "fontSize": Self.number(viewport.width * 0.017)
        case "markers": markers
        // CSS draws many markers smaller.
        case "isDense": markers.count > 60
        case "summary": localized(count: count, one: "Map with {count} point", other: "Map with {count} points")
        default: nil
        }
    }
}

extension MapView.Marker: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "path": "M\(MapView.number(x)) \(MapView.number(y))h0"
        case "title": title
        case "url": url.orAbsent
        case "isCluster": count > 1
        case "x": MapView.number(x)
        case "y": MapView.number(y)
        case "clusterCount": NumberFormat.grouped(count)
        default: nil
        }
    }
}
