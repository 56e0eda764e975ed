import DocumentModel

/// The part of the Earth that a map shows, in degrees on an equirectangular plane: longitude to the right, latitude up.
///
/// It is twice as wide as high, and may reach beyond the 180th meridian, so that Fiji and Samoa are neighbours.
struct MapFrame: Hashable, Sendable {
    /// The longitude of the left edge.
    let west: Double
    /// The latitude of the upper edge.
    let north: Double
    /// The width in degrees; the height is half of it.
    let width: Double

    var height: Double { width / 2 }

    /// The whole Earth.
    static let world = MapFrame(west: -180, north: 90, width: 360)

    /// The smallest frame around all points that leaves a margin and shows enough land to find one's way.
    init(around points: [GeoPoint]) {
        let (start, span) = Self.arc(around: points.map(\.longitude))
        let latitudes = points.map(\.latitude)
        let (south, north) = (latitudes.min() ?? 0, latitudes.max() ?? 0)
        let width = max(Self.minimumWidth, Self.margin * span, 2 * Self.margin * (north - south))
        guard !points.isEmpty, width < 360 else {
            self = .world
            return
        }
        let upper = (north + south) / 2 + width / 4
        self.init(west: start + (span - width) / 2, north: min(max(upper, width / 2 - 90), 90), width: width)
    }

    private init(west: Double, north: Double, width: Double) {
        self.west = west
        self.north = north
        self.width = width
    }

    /// Where a point lies on the plane: x grows to the right, y downwards, as in SVG.
    func position(of point: GeoPoint) -> (x: Double, y: Double) {
        var x = point.longitude
        if x < west { x += 360 }
        if x > west + width { x -= 360 }
        return (x, -point.latitude)
    }

    /// How far apart the lines of the graticule are, in degrees.
    var graticuleStep: Int {
        switch width {
        case 180...: 30
        case 90..<180: 15
        case 60..<90: 10
        default: 5
        }
    }

    /// Where copies of the Earth begin that the frame shows parts of, in degrees from the usual place.
    var landOffsets: [Int] {
        [-360, 0, 360].filter { Double($0) + 180 > west && Double($0) - 180 < west + width }
    }

    private static let minimumWidth = 48.0
    private static let margin = 1.3

    /// The shortest arc of longitudes that holds all of them: what is left beside the widest gap.
    private static func arc(around longitudes: [Double]) -> (start: Double, span: Double) {
        let sorted = longitudes.sorted()
        guard let first = sorted.first, let last = sorted.last else { return (0, 0) }
        var best = (start: first, span: last - first)
        for (longitude, next) in zip(sorted, sorted.dropFirst()) where 360 - (next - longitude) < best.span {
            best = (next, 360 - (next - longitude))
        }
        return best
    }
}
