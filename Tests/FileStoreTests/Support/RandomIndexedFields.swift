import DocumentModel
import DocumentStore
import TestSupport
import UTF8Text

/// A generator of nested fields of all types, whose values are often equal or adjacent in order.
struct RandomIndexedFields {
    var generator: SeededGenerator

    mutating func fields(depth: Int = 2) -> MapValue {
        let names: [UTF8Key] = ["a", "b", "c", "é", "e\u{301}"]
        return MapValue(
            names.shuffled(using: &generator).prefix(Int.random(in: 0...4, using: &generator)).map { ($0, value(depth)) }
        )
    }

    mutating func value(_ depth: Int) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 14 : 11), using: &generator) {
        case 0: .null
        case 1: .boolean(Bool.random(using: &generator))
        case 2...4: .integer(Int64.random(in: -2...2, using: &generator))
        case 5: .double(pick([.nan, -.infinity, -1.5, -0.0, 0, 1, 2, 0x1p53]))
        case 6: .timestamp(Timestamp.current())
        case 7: .string(pick(["", "a", "ab", "é", "e\u{301}", "a\0b", String(repeating: "long", count: 400)]))
        case 8: .bytes(pick([[], [0], [0, 1], [0xff]]))
        case 9: .reference(pick(Self.paths))
        case 10: .geoPoint(pick(Self.points))
        case 11: .array((0..<3).map { _ in element(depth - 1) })
        case 12: .vector((0..<Int.random(in: 0...2, using: &generator)).map { _ in pick([0, 1, .nan]) })
        default: .map(fields(depth: depth - 1))
        }
    }

    private mutating func element(_ depth: Int) -> Value {
        while true {
            let value = value(depth)
            if case .array = value { continue }
            return value
        }
    }

    mutating func pick<T>(_ choices: [T]) -> T {
        choices[Int.random(in: choices.indices, using: &generator)]
    }

    private static let paths = ["a/b", "a/__id7__", "a/b/c/d"].compactMap { try? DocumentPath($0) }
    private static let points = [(-90.0, 180.0), (0, 0), (53.55, 9.98), (53.55, -9.98)].compactMap {
        try? GeoPoint(validatingLatitude: $0.0, longitude: $0.1)
    }
}
