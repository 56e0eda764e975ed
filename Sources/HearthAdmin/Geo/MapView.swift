import DocumentModel

/// A map of geo points, drawn as SVG without tiles: coastlines, graticule and markers.
struct MapView: ViewModel {
    /// A geo point with its label.
    struct Point: Sendable {
        let point: GeoPoint
        /// A document's ID or a field's path.
        let label: DisplayText
        /// The page of the point's document, unless it is the current page.
        let url: String?
    }

    /// A marker of one point, or of a cluster of points too close to be distinguished.
    struct Marker: ViewModel {
        let x: String
        let y: String
        /// The dot as the data of an SVG path.
        let path: String
        let title: String
        let url: String?
        let isCluster: Bool
        /// The number of points in the cluster.
        let clusterCount: String
        /// The font size of the number, in degrees, so that it fits into the marker.
        let fontSize: String
        /// The name beside the marker; `nil` for a cluster, and where it would cover another one.
        fileprivate(set) var label: MapLabel?
    }

    let markers: [Marker]
    private let viewBox: String
    private let landOffsets: [Int]
    /// The lines of the graticule as the data of one SVG path.
    private let graticule: String
    /// The distance between the lines of the graticule, in degrees.
    private let step: String
    /// True if there are so many markers that CSS draws them smaller.
    private let isDense: Bool
    private let summary: String

    /// Draws the points that the viewport contains.
    ///
    /// - Parameter zoom: Returns the URL of the page with a smaller viewport; `nil` if the map cannot be zoomed.
    init(of points: [Point], in viewport: MapViewport, zoom: ((MapViewport) -> String)? = nil) {
        let points = points.filter { viewport.contains($0.point) }
        markers = Self.markers(of: points, in: viewport, zoom: zoom)
        viewBox = [viewport.west, -viewport.north, viewport.width, viewport.height].map(Self.number).joined(separator: " ")
        landOffsets = viewport.landOffsets
        graticule = Self.graticule(of: viewport)
        step = CoordinateFormat.number(viewport.graticuleStep)
        isDense = markers.count > 60
        summary = localized(count: points.count, one: "Map with {count} point", other: "Map with {count} points")
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
        var markers = clusters.map { marker(x: $0.x, y: $0.y, of: $0.points, in: viewport, zoom: zoom) }
        guard clusters.count <= MapLabels.maximumCount else { return markers }
        var labels = MapLabels(in: viewport, beside: clusters.map { ($0.x, $0.y) })
        for (index, cluster) in clusters.enumerated() where cluster.points.count == 1 {
            markers[index].label = labels.add(cluster.points[0].label, x: cluster.x, y: cluster.y)
        }
        return markers
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
        let count = NumberFormat.grouped(points.count)
        return Marker(
            x: number(x),
            y: number(y),
            path: "M\(number(x)) \(number(y))h0",
            title: (names + (rest > 0 ? [localized(count: rest, one: "and {count} more", other: "and {count} more")] : []))
                .joined(separator: "; "),
            url: points.count == 1 ? points[0].url : Self.zoomedViewport(around: points, in: viewport).flatMap { zoom?($0) },
            isCluster: points.count > 1,
            clusterCount: count,
            fontSize: number(viewport.width * 0.017 * min(1, 2 / Double(max(1, count.unicodeScalars.count))))
        )
    }
}

extension MapView {
    /// Returns a smaller viewport that separates points; `nil` if they coincide or the map cannot zoom in further.
    private static func zoomedViewport(around points: [Point], in viewport: MapViewport) -> MapViewport? {
        let points = points.map(\.point)
        guard points.contains(where: { $0 != points[0] }) else { return nil }
        let zoomed = MapViewport(closeAround: points)
        return zoomed.width < viewport.width ? zoomed : nil
    }

    private static func graticule(of viewport: MapViewport) -> String {
        let step = viewport.graticuleStep
        let meridians = multiples(of: step, from: viewport.west, to: viewport.west + viewport.width)
            .map { "M\(number($0)) \(number(-viewport.north))v\(number(viewport.height))" }
        let parallels = multiples(of: step, from: -viewport.north, to: viewport.height - viewport.north)
            .map { "M\(number(viewport.west)) \(number($0))h\(number(viewport.width))" }
        return (meridians + parallels).joined()
    }

    private static func multiples(of step: Double, from lower: Double, to upper: Double) -> [Double] {
        let (first, last) = (Int((lower / step).rounded(.up)), Int((upper / step).rounded(.down)))
        return first <= last ? (first...last).map { Double($0) * step } : []
    }

    /// Formats a coordinate for SVG with at most three decimal places.
    static func number(_ value: Double) -> String {
        let thousandths = Int((value * 1000).rounded())
        return thousandths.isMultiple(of: 1000) ? String(thousandths / 1000) : (Double(thousandths) / 1000).description
    }
}
