import DocumentModel

/// The name of a point on a map.
struct MapLabel: ViewModel {
    let text: String
    let x: String
    let y: String
    let fontSize: String
    /// True if the text ends at its position, to the left of the marker.
    let isBefore: Bool
}

/// Places the names of points beside their markers, each where it covers neither a marker nor another name.
struct MapLabels {
    /// An area of the map in degrees.
    private struct Box {
        let x: ClosedRange<Double>
        let y: ClosedRange<Double>

        func overlaps(_ other: Box) -> Bool { x.overlaps(other.x) && y.overlaps(other.y) }
    }

    private let viewport: MapViewport
    private let fontSize: Double
    /// The areas of markers and names.
    private var taken: [Box] = []

    /// The maximum number of markers on a map with names.
    static let maximumCount = 20
    private static let maximumLength = 24
    /// The width of most letters in relation to the font size.
    private static let letterWidth = 0.62

    /// - Parameter markers: The positions of all markers, in degrees.
    init(in viewport: MapViewport, beside markers: [(x: Double, y: Double)]) {
        self.viewport = viewport
        fontSize = viewport.width * 0.0145
        let radius = viewport.width * 0.008
        taken = markers.map { Box(x: $0.x - radius...$0.x + radius, y: $0.y - radius...$0.y + radius) }
    }

    /// Returns the name of the point of a marker, to the right or to the left of it; `nil` if there is no room.
    mutating func add(_ name: DisplayText, x: Double, y: Double) -> MapLabel? {
        let text = name.plain.truncatingMiddle(toScalars: Self.maximumLength)
        let width = fontSize * text.unicodeScalars.reduce(0) { $0 + ($1.isWide ? 1 : Self.letterWidth) }
        let gap = viewport.width * 0.0095
        for isBefore in [false, true] {
            let edge = isBefore ? x - gap : x + gap
            let range = isBefore ? edge - width...edge : edge...edge + width
            let box = Box(x: range, y: y - fontSize / 2...y + fontSize / 2)
            guard range.lowerBound >= viewport.west, range.upperBound <= viewport.west + viewport.width,
                !taken.contains(where: box.overlaps)
            else { continue }
            taken.append(box)
            return MapLabel(
                text: text,
                x: MapView.number(edge),
                y: MapView.number(y),
                fontSize: MapView.number(fontSize),
                isBefore: isBefore
            )
        }
        return nil
    }
}

extension Unicode.Scalar {
    /// True for the characters of East Asian scripts and emoji, which are as wide as the font size.
    fileprivate var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F: true
        case 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD: true
        default: properties.isEmojiPresentation
        }
    }
}
