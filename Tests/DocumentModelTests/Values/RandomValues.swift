import DocumentModel
import TestSupport
import UTF8Text

/// A generator of values that are likely to be equal, adjacent or edge cases.
struct RandomValues {
    var generator: SeededGenerator

    mutating func value(depth: Int = 3) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 14 : 11), using: &generator) {
        case 0: .null
        case 1: .boolean(Bool.random(using: &generator))
        case 2, 3: .integer(integer())
        case 4, 5: .double(double())
        case 6: .timestamp(timestamp())
        case 7: .string(text())
        case 8: .bytes(Array(text().utf8.prefix(3)))
        case 9: .reference(path())
        case 10: .geoPoint(geoPoint())
        case 11: .array((0..<count()).map { _ in value(depth: depth - 1) })
        case 12: .vector((0..<count()).map { _ in double() })
        default: .map(map(depth: depth - 1))
        }
    }

    mutating func map(depth: Int) -> MapValue {
        MapValue((0..<count()).map { _ in (key: UTF8Key(text()), value: value(depth: depth)) })
    }

    mutating func integer() -> Int64 {
        let edges: [Int64] = [.min, .min + 1, -(1 << 53) - 1, -1, 0, 1, 3, 1 << 53, 1 << 53 + 1, .max - 1, .max]
        return pick(edges) &+ Int64.random(in: -1...1, using: &generator)
    }

    mutating func double() -> Double {
        let edges: [Double] = [
            .nan, -.infinity, -.greatestFiniteMagnitude, -0x1p63, -0x1p53, -1.5, -1, -.leastNonzeroMagnitude, -0.0, 0.0,
            .leastNonzeroMagnitude, .leastNormalMagnitude, 1, 3, 3.5, 0x1p53, 0x1p63, .greatestFiniteMagnitude, .infinity,
        ]
        let edge = pick(edges)
        return [edge, edge.nextUp, edge.nextDown][Int.random(in: 0..<3, using: &generator)]
    }

    mutating func text() -> String {
        let pieces = ["", "a", "b", "é", "e\u{301}", "\0", "/", "Ｐ", "🐵", "\u{ffff}", "long enough to leave the inline form"]
        return pick(pieces) + pick(pieces)
    }

    mutating func timestamp() -> Timestamp {
        let moments: [Timestamp] = [.minimum, .maximum]
        guard Bool.random(using: &generator) else { return pick(moments) }
        let microseconds = Int64.random(in: moments[0].microseconds...moments[1].microseconds, using: &generator)
        return (try? Timestamp(microseconds: microseconds)) ?? .minimum
    }

    mutating func geoPoint() -> GeoPoint {
        let latitude = pick([-90, -1, -0.0, 0.0, 1, 90])
        let point = try? GeoPoint(validatingLatitude: latitude, longitude: pick([-180, -0.0, 0.0, 180]))
        guard let point else { preconditionFailure("all of these are in range") }
        return point
    }

    mutating func path() -> DocumentPath {
        let ids = ["__id-2__", "__id7__", "__id12__", "12", "7", "A", "__id", "a", "é", "e\u{301}", "a b", "a."]
        var text = pick(["books", "book", "b\u{301}"]) + "/" + pick(ids)
        if Bool.random(using: &generator) { text += "/" + pick(["reviews", "a"]) + "/" + pick(ids) }
        guard let path = try? DocumentPath(text) else { preconditionFailure("all of these are legal") }
        return path
    }

    private mutating func count() -> Int {
        Int.random(in: 0...3, using: &generator)
    }

    mutating func pick<T>(_ choices: [T]) -> T {
        choices[Int.random(in: choices.indices, using: &generator)]
    }
}
