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
        let isCluster: Bool
    }

    let frame: MapFrame
    let dots: [Dot]
    let count: Int

    /// Draws places in a frame.
    init(of places: [Place], in frame: MapFrame) {
        self.frame = frame
        count = places.count
        dots = Self.dots(of: places, in: frame)
    }

    private static func dots(of places: [Place], in frame: MapFrame) -> [Dot] {
        struct Cell: Hashable {
            let column: Int
            let row: Int
        }
        let size = frame.width / 90
        var order: [Cell] = []
        var cells: [Cell: [Place]] = [:]
        for place in places {
            let (x, y) = frame.position(of: place.point)
            let cell = Cell(column: Int((x / size).rounded(.down)), row: Int((y / size).rounded(.down)))
            if cells[cell] == nil { order.append(cell) }
            cells[cell, default: []].append(place)
        }
        return order.compactMap { cells[$0] }.map { dot(of: $0, in: frame) }
    }

    private static func dot(of places: [Place], in frame: MapFrame) -> Dot {
        let positions = places.map { frame.position(of: $0.point) }
        let count = Double(places.count)
        let names = places.prefix(5).map { "\($0.label.plain): \(Coordinates.decimal($0.point))" }
        let rest = places.count - names.count
        return Dot(
            x: positions.reduce(0) { $0 + $1.x } / count,
            y: positions.reduce(0) { $0 + $1.y } / count,
            title: (names + (rest > 0 ? [localized(count: rest, one: "and {count} more", other: "and {count} more")] : []))
                .joined(separator: "; "),
            url: places.count == 1 ? places[0].url : nil,
            isCluster: places.count > 1
        )
    }
}

extension MapView {
    private var viewBox: String {
        [frame.west, -frame.north, frame.width, frame.height].map(Self.number).joined(separator: " ")
    }

    /// The lines of the graticule as the data of one path.
    private var graticule: String {
        let step = frame.graticuleStep
        let meridians = Self.multiples(of: step, from: frame.west, to: frame.west + frame.width)
            .map { "M\($0) \(Self.number(-frame.north))v\(Self.number(frame.height))" }
        let parallels = Self.multiples(of: step, from: -frame.north, to: frame.height - frame.north)
            .map { "M\(Self.number(frame.west)) \($0)h\(Self.number(frame.width))" }
        return (meridians + parallels).joined()
    }

    private static func multiples(of step: Int, from lower: Double, to upper: Double) -> StrideThrough<Int> {
        let first = Int((lower / Double(step)).rounded(.up)) * step
        return stride(from: first, through: Int(upper.rounded(.down)), by: step)
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
        case "step": frame.graticuleStep
        case "landOffsets": frame.landOffsets
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
        case "isCluster": isCluster
        default: nil
        }
    }
}
