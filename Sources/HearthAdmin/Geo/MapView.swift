import DocumentModel

/// A map of points, drawn as SVG without tiles: land, graticule, and a dot for each place.
struct MapView: Sendable {
    /// A point and what it belongs to.
    struct Place: Sendable {
        let point: GeoPoint
        /// What the point is called: a document's ID or a field's path.
        let label: DisplayText
        /// The page to go to, if it is another one.
        let url: String?
    }

    /// One dot: a place, or several that lie too near to be told apart.
    struct Dot: Sendable {
        let x: Double
        let y: Double
        let title: String
        let url: String?
        /// How many places it stands for.
        let count: Int
    }

    let frame: MapFrame
    let dots: [Dot]
    let count: Int

    /// Draws the places of a frame that are in it.
    ///
    /// - Parameter zoom: The page with a nearer look at a part; nil where there is none.
    init(of places: [Place], in frame: MapFrame, zoom: ((MapFrame) -> String)? = nil) {
        self.frame = frame
        let places = places.filter { frame.contains($0.point) }
        count = places.count
        dots = Self.dots(of: places, in: frame, zoom: zoom)
    }

    private static func dots(of places: [Place], in frame: MapFrame, zoom: ((MapFrame) -> String)?) -> [Dot] {
        struct Group {
            let x: Double
            let y: Double
            var places: [Place]
        }
        // Each dot stands at a place, and takes in those that would lie under it.
        let size = frame.width / Self.dotsAcross
        var groups: [Group] = []
        for place in places {
            let (x, y) = frame.position(of: place.point)
            if let near = groups.firstIndex(where: { abs($0.x - x) < size && abs($0.y - y) < size }) {
                groups[near].places.append(place)
            } else {
                groups.append(Group(x: x, y: y, places: [place]))
            }
        }
        return groups.map { dot(x: $0.x, y: $0.y, of: $0.places, in: frame, zoom: zoom) }
    }

    private static let dotsAcross = 44.0

    private static func dot(
        x: Double,
        y: Double,
        of places: [Place],
        in frame: MapFrame,
        zoom: ((MapFrame) -> String)?
    ) -> Dot {
        let names = places.prefix(5).map { "\($0.label.plain): \(Coordinates.decimal($0.point))" }
        let rest = places.count - names.count
        return Dot(
            x: x,
            y: y,
            title: (names + (rest > 0 ? [localized(count: rest, one: "and {count} more", other: "and {count} more")] : []))
                .joined(separator: "; "),
            url: places.count == 1 ? places[0].url : Self.nearer(places, in: frame).flatMap { zoom?($0) },
            count: places.count
        )
    }
}

extension MapView {
    /// A frame that tells places apart; nil when they are at the very same point, or the map can't come nearer.
    private static func nearer(_ places: [Place], in frame: MapFrame) -> MapFrame? {
        let points = places.map(\.point)
        guard points.contains(where: { $0 != points[0] }) else { return nil }
        let nearer = MapFrame(closeAround: points)
        return nearer.width < frame.width ? nearer : nil
    }

    private var viewBox: String {
        [frame.west, -frame.north, frame.width, frame.height].map(Self.number).joined(separator: " ")
    }

    /// The lines of the graticule as the data of one path.
    private var graticule: String {
        let step = frame.graticuleStep
        let meridians = Self.multiples(of: step, from: frame.west, to: frame.west + frame.width)
            .map { "M\(Self.number($0)) \(Self.number(-frame.north))v\(Self.number(frame.height))" }
        let parallels = Self.multiples(of: step, from: -frame.north, to: frame.height - frame.north)
            .map { "M\(Self.number(frame.west)) \(Self.number($0))h\(Self.number(frame.width))" }
        return (meridians + parallels).joined()
    }

    private static func multiples(of step: Double, from lower: Double, to upper: Double) -> [Double] {
        let (first, last) = (Int((lower / step).rounded(.up)), Int((upper / step).rounded(.down)))
        return first <= last ? (first...last).map { Double($0) * step } : []
    }

    /// A coordinate with at most three decimals and nothing that SVG doesn't read.
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
        case "step": Coordinates.number(frame.graticuleStep)
        case "landOffsets": frame.landOffsets
        case "fontSize": Self.number(frame.width * 0.017)
        case "dots": dots
        // Many dots are drawn smaller.
        case "isDense": dots.count > 60
        case "summary": localized(count: count, one: "Map with {count} point", other: "Map with {count} points")
        default: nil
        }
    }
}

extension MapView.Dot: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "path": "M\(MapView.number(x)) \(MapView.number(y))h0"
        case "title": title
        case "url": url.orAbsent
        case "isCluster": count > 1
        case "x": MapView.number(x)
        case "y": MapView.number(y)
        case "clusterCount": Counting.grouped(count)
        default: nil
        }
    }
}
