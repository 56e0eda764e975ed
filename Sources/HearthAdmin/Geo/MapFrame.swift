import DocumentModel
import StrictJSON

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

    /// The frame around points of which it is known where they are: without land to find one's way by.
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

    /// A frame as near to the wish as the Earth has it.
    private init(centeredAt x: Double, _ y: Double, width wished: Double) {
        let width = min(max(wished, Self.leastWidth), 360)
        var west = x - width / 2
        while west < -180 { west += 360 }
        while west >= 180 { west -= 360 }
        // Thousandths are a hundred metres, and as fine as a map without streets need be.
        let north = min(max(y + width / 4, width / 2 - 90), 90)
        self.init(west: width == 360 ? -180 : Self.rounded(west), north: Self.rounded(north), width: Self.rounded(width))
    }

    private static func rounded(_ degrees: Double) -> Double {
        (degrees * 1_000).rounded() / 1_000
    }

    /// The same place, so many times as wide.
    func scaled(by factor: Double) -> MapFrame {
        MapFrame(centeredAt: west + width / 2, north - height / 2, width: width * factor)
    }

    /// What lies beside it, by parts of its width and height.
    func moved(east: Double, north steps: Double) -> MapFrame {
        MapFrame(centeredAt: west + width * (0.5 + east), north - height * (0.5 - steps), width: width)
    }

    /// Whether a point is on the map.
    func contains(_ point: GeoPoint) -> Bool {
        let (x, y) = position(of: point)
        return x >= west && x <= west + width && -y <= north && -y >= north - height
    }

    /// Where a point lies on the plane: x grows to the right, y downwards, as in SVG.
    func position(of point: GeoPoint) -> (x: Double, y: Double) {
        var x = point.longitude
        if x < west { x += 360 }
        if x > west + width { x -= 360 }
        return (x, -point.latitude)
    }

    /// How far apart the lines of the graticule are, in degrees.
    var graticuleStep: Double {
        let steps = [30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01]
        return steps.first { width >= 6 * $0 } ?? 0.01
    }

    /// Where copies of the Earth begin that the frame shows parts of, in degrees from the usual place.
    var landOffsets: [Int] {
        [-360, 0, 360].filter { Double($0) + 180 > west && Double($0) - 180 < west + width }
    }

    private static let minimumWidth = 48.0
    private static let leastWidth = 0.1
    private static let margin = 1.3
    private static let wideMargin = 1.8

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

extension MapFrame {
    /// Reads a frame from an address: `world`, or the left edge, the upper edge and the width in degrees; nil for anything else.
    init?(_ text: UTF8Key) {
        if text == "world" {
            self = .world
            return
        }
        guard let numbers = TypedText.numbers(in: text.string), numbers.count == 3, numbers[2] > 0,
            numbers.allSatisfy({ $0.magnitude <= 720 })
        else { return nil }
        self.init(centeredAt: numbers[0] + numbers[2] / 2, numbers[1] - numbers[2] / 4, width: numbers[2])
    }

    /// The text that an address has.
    var text: String {
        self == .world ? "world" : [west, north, width].map(Coordinates.number).joined(separator: ",")
    }
}
