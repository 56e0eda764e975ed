import DocumentModel
import UTF8Text

/// The area that a map shows, in degrees on an equirectangular projection.
///
/// The width is twice the height. The area may cross the 180th meridian, so Fiji and Samoa are neighbors.
struct MapViewport: Hashable, Sendable {
    /// The longitude of the left edge.
    let west: Double
    /// The latitude of the upper edge.
    let north: Double
    /// The width in degrees; the height is half of it.
    let width: Double

    var height: Double { width / 2 }

    /// The whole Earth.
    static let world = MapViewport(west: -180, north: 90, width: 360)

    /// Creates the smallest viewport that holds all points with a margin, and is wide enough to show recognizable coastlines.
    init(around points: [GeoPoint]) {
        let (start, span) = Self.arc(around: points.map(\.longitude))
        let latitudes = points.map(\.latitude)
        let (south, north) = (latitudes.min() ?? 0, latitudes.max() ?? 0)
        let width = max(Self.minimumFittedWidth, Self.margin * span, 2 * Self.margin * (north - south))
        guard !points.isEmpty, width < 360 else {
            self = .world
            return
        }
        let upper = (north + south) / 2 + width / 4
        self.init(west: start + (span - width) / 2, north: min(max(upper, width / 2 - 90), 90), width: width)
    }

    /// Creates a tight viewport around points, regardless of the coastlines in it.
    init(closeAround points: [GeoPoint]) {
        let (start, span) = Self.arc(around: points.map(\.longitude))
        let latitudes = points.map(\.latitude)
        let (south, north) = (latitudes.min() ?? 0, latitudes.max() ?? 0)
        self.init(
            centeredAt: start + span / 2,
            (north + south) / 2,
            width: Self.wideMargin * max(span, 2 * (north - south))
        )
    }

    private init(west: Double, north: Double, width: Double) {
        self.west = west
        self.north = north
        self.width = width
    }

    /// Creates a viewport clamped to the valid width and latitudes.
    private init(centeredAt x: Double, _ y: Double, width requestedWidth: Double) {
        let width = min(max(requestedWidth, Self.minimumWidth), 360)
        var west = x - width / 2
        while west < -180 { west += 360 }
        while west >= 180 { west -= 360 }
        // A thousandth of a degree is about a hundred meters, fine enough for a map without streets.
        let north = min(max(y + width / 4, width / 2 - 90), 90)
        self.init(west: width == 360 ? -180 : Self.rounded(west), north: Self.rounded(north), width: Self.rounded(width))
    }

    private static func rounded(_ degrees: Double) -> Double {
        (degrees * 1_000).rounded() / 1_000
    }

    /// Returns the viewport with the same center and a scaled width.
    func scaled(by factor: Double) -> MapViewport {
        MapViewport(centeredAt: west + width / 2, north - height / 2, width: width * factor)
    }

    /// Returns the viewport moved by fractions of its width and height.
    func moved(east: Double, north: Double) -> MapViewport {
        MapViewport(centeredAt: west + width * (0.5 + east), self.north - height * (0.5 - north), width: width)
    }

    /// Returns whether the viewport contains a point.
    func contains(_ point: GeoPoint) -> Bool {
        let (x, y) = position(of: point)
        return x >= west && x <= west + width && -y <= north && -y >= north - height
    }

    /// Returns the position of a point in SVG coordinates: x grows to the right, y downward.
    func position(of point: GeoPoint) -> (x: Double, y: Double) {
        var x = point.longitude
        if x < west { x += 360 }
        if x > west + width { x -= 360 }
        return (x, -point.latitude)
    }

    /// The distance between the lines of the graticule, in degrees.
    var graticuleStep: Double {
        let steps = [30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01]
        return steps.first { width >= 6 * $0 } ?? 0.01
    }

    /// The horizontal offsets, in degrees, of the copies of the world map that the viewport overlaps.
    var landOffsets: [Int] {
        [-360, 0, 360].filter { Double($0) + 180 > west && Double($0) - 180 < west + width }
    }

    private static let minimumFittedWidth = 48.0
    private static let minimumWidth = 0.1
    private static let margin = 1.3
    private static let wideMargin = 1.8

    /// Returns the shortest arc that contains all longitudes: the complement of the widest gap.
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

extension MapViewport {
    /// Parses the value of a URL parameter: `world`, or the western edge, the northern edge and the width in degrees. Returns
    /// `nil` for anything else.
    init?(_ text: UTF8Key) {
        if text == "world" {
            self = .world
            return
        }
        guard let numbers = NumberList.numbers(in: text.string), numbers.count == 3, numbers[2] > 0,
            numbers.allSatisfy({ $0.magnitude <= 720 })
        else { return nil }
        self.init(centeredAt: numbers[0] + numbers[2] / 2, numbers[1] - numbers[2] / 4, width: numbers[2])
    }

    /// The value of a URL parameter.
    var text: String {
        self == .world ? "world" : [west, north, width].map(CoordinateFormat.number).joined(separator: ",")
    }
}
