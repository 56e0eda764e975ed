import DocumentModel
import StrictJSON

/// A part of the Earth as the operand of `near` or `within`, and as people write it.
struct FilterPlace: Sendable {
    /// `53.55, 9.99, 5 km`: latitude, longitude and radius; or `53.5, 9.9, 53.6, 10.1`: the south-western and the north-eastern
    /// corner.
    let text: String
    /// The same as calls take it.
    let json: [UInt8]

    /// Reads a circle that a person wrote; a radius without a unit is in metres.
    init(circle text: String) throws(StatusError) {
        var digits = text.utf8[...]
        var scale = 1.0
        while digits.last == UInt8(ascii: " ") { digits.removeLast() }
        if digits.last == UInt8(ascii: "m") {
            digits.removeLast()
            if digits.last == UInt8(ascii: "k") {
                digits.removeLast()
                scale = 1_000
            }
        }
        guard let numbers = TypedText.numbers(in: String(Substring(digits))), numbers.count == 3 else {
            throw StatusError(
                .invalidArgument,
                "Expected latitude, longitude and radius, such as 53.55, 9.99, 5 km, found \(Excerpt(text))."
            )
        }
        let center = try GeoPoint(validatingLatitude: numbers[0], longitude: numbers[1])
        self.init(try GeoCircle(center: center, radius: numbers[2] * scale))
    }

    /// Reads a box that a person wrote.
    init(box text: String) throws(StatusError) {
        guard let numbers = TypedText.numbers(in: text), numbers.count == 4 else {
            throw StatusError(
                .invalidArgument,
                "Expected the south-western and the north-eastern corner, such as 53.5, 9.9, 53.6, 10.1, found \(Excerpt(text))."
            )
        }
        self.init(
            southWest: try GeoPoint(validatingLatitude: numbers[0], longitude: numbers[1]),
            northEast: try GeoPoint(validatingLatitude: numbers[2], longitude: numbers[3])
        )
    }

    /// The circle that JSON states; nil when it states none.
    init?(circle node: JSONNode) {
        guard case .geoPoint(let center)? = node["center"].flatMap({ try? Value(json: $0) }), let radius = node["radius"]?.number
        else { return nil }
        let metres: Double? =
            switch radius {
            case .integer(let integer): Double(integer)
            case .double(let double): double
            case .outOfRange: nil
            }
        guard let circle = metres.flatMap({ try? GeoCircle(center: center, radius: $0) }) else { return nil }
        self.init(circle)
    }

    /// The box that JSON states; nil when it states none.
    init?(box node: JSONNode) {
        guard case .geoPoint(let southWest)? = node["southWest"].flatMap({ try? Value(json: $0) }),
            case .geoPoint(let northEast)? = node["northEast"].flatMap({ try? Value(json: $0) })
        else { return nil }
        self.init(southWest: southWest, northEast: northEast)
    }

    /// A circle.
    init(_ circle: GeoCircle) {
        let kilometres = circle.radius / 1_000
        let radius =
            kilometres >= 1 && kilometres * 1_000 == circle.radius
            ? "\(Coordinates.number(kilometres)) km" : "\(Coordinates.number(circle.radius)) m"
        text = "\(Coordinates.decimal(circle.center)), \(radius)"
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("center")
        Value.geoPoint(circle.center).write(to: &writer)
        writer.key("radius")
        writer.double(circle.radius)
        writer.endObject()
        json = writer.finish()
    }

    /// A box.
    init(southWest: GeoPoint, northEast: GeoPoint) {
        text = "\(Coordinates.decimal(southWest)), \(Coordinates.decimal(northEast))"
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("southWest")
        Value.geoPoint(southWest).write(to: &writer)
        writer.key("northEast")
        Value.geoPoint(northEast).write(to: &writer)
        writer.endObject()
        json = writer.finish()
    }
}
