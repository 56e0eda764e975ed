import DocumentModel
import StrictJSON
import UTF8Text

/// The operand of a `near` or `within` filter, as entered in a form and as JSON.
struct GeoFilterOperand: Sendable {
    /// A circle as `53.55, 9.99, 5 km` (latitude, longitude and radius), or a box as `53.5, 9.9, 53.6, 10.1` (southwest and
    /// northeast corners).
    let text: String
    /// The operand in the JSON form of the API.
    let json: [UInt8]

    /// Parses a circle; a radius without a unit is in meters.
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
        guard let numbers = NumberList.numbers(in: String(Substring(digits))), numbers.count == 3 else {
            throw StatusError(
                .invalidArgument,
                "Expected latitude, longitude and radius, such as 53.55, 9.99, 5 km, found \(Excerpt(text))."
            )
        }
        let center = try GeoPoint(validatingLatitude: numbers[0], longitude: numbers[1])
        self.init(try GeoCircle(center: center, radius: numbers[2] * scale))
    }

    /// Parses a box.
    init(box text: String) throws(StatusError) {
        guard let numbers = NumberList.numbers(in: text), numbers.count == 4 else {
            throw StatusError(
                .invalidArgument,
                "Expected the southwest and northeast corners, such as 53.5, 9.9, 53.6, 10.1, found \(Excerpt(text))."
            )
        }
        self.init(
            southWest: try GeoPoint(validatingLatitude: numbers[0], longitude: numbers[1]),
            northEast: try GeoPoint(validatingLatitude: numbers[2], longitude: numbers[3])
        )
    }

    /// Decodes a circle from JSON; returns `nil` if it is invalid.
    init?(circle node: JSONNode) {
        guard case .geoPoint(let center)? = node["center"].flatMap({ try? Value(json: $0) }), let radius = node["radius"]?.number
        else { return nil }
        let meters: Double? =
            switch radius {
            case .integer(let integer): Double(integer)
            case .double(let double): double
            case .outOfRange: nil
            }
        guard let circle = meters.flatMap({ try? GeoCircle(center: center, radius: $0) }) else { return nil }
        self.init(circle)
    }

    /// Decodes a box from JSON; returns `nil` if it is invalid.
    init?(box node: JSONNode) {
        guard case .geoPoint(let southWest)? = node["southWest"].flatMap({ try? Value(json: $0) }),
            case .geoPoint(let northEast)? = node["northEast"].flatMap({ try? Value(json: $0) })
        else { return nil }
        self.init(southWest: southWest, northEast: northEast)
    }

    /// Creates the operand of a `near` filter.
    init(_ circle: GeoCircle) {
        let kilometers = circle.radius / 1_000
        let radius =
            kilometers >= 1 && kilometers * 1_000 == circle.radius
            ? "\(CoordinateFormat.number(kilometers)) km" : "\(CoordinateFormat.number(circle.radius)) m"
        text = "\(CoordinateFormat.decimal(circle.center)), \(radius)"
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("center")
        Value.geoPoint(circle.center).write(to: &writer)
        writer.key("radius")
        writer.double(circle.radius)
        writer.endObject()
        json = writer.finish()
    }

    /// Creates the operand of a `within` filter.
    init(southWest: GeoPoint, northEast: GeoPoint) {
        text = "\(CoordinateFormat.decimal(southWest)), \(CoordinateFormat.decimal(northEast))"
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
