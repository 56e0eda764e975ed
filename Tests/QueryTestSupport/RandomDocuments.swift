package import DocumentModel
package import TestSupport
import UTF8Text

/// Generates documents with few fields and values, so that queries find equal values, adjacent values, other types and gaps.
package struct RandomDocuments {
    package var generator: SeededGenerator

    package init(generator: SeededGenerator) {
        self.generator = generator
    }

    /// The field paths, including nested ones and one that needs quotes.
    package static let fields = ["a", "b", "n", "m", "m.x", "m.y", "tags", "`é.b`", "m.deep.z"].map(field)
    /// The field that contains mostly geo points.
    package static let location = field("place")
    /// The field that contains mostly vectors.
    package static let vector = field("m.vector")
    /// The collections.
    package static let collections = ["c", "d", "c/1/c", "c/1/s", "d/__id7__/c", "c/1/s/a/c"].map(collection)
    /// Strings that differ just before and after the truncation limit of queries, and within a character.
    private static let long: [String] = {
        let text = String(repeating: "x", count: 1_499)
        return ["", "x", "xa", "xb", "y", "é", "è", "Ł", "é!"].map { text + $0 } + [String(repeating: "\0", count: 1_502)]
    }()
    private static let ids = [
        "__id-2__", "__id7__", "__id12__", "12", "7", "A", "Aa", "__id", "_id1__", "a", "é", "e\u{301}", "1", "岩澤", "🐵", "Ｐ",
    ]

    /// Returns documents at distinct paths.
    package mutating func documents(_ count: Int) -> [Document] {
        var documents: [DocumentPath: Document] = [:]
        for _ in 0..<count {
            let path = path()
            documents[path] = Document(path: path, fields: fields(), createTime: .minimum, updateTime: .minimum)
        }
        return documents.values.sorted { $0.path < $1.path }
    }

    package mutating func path() -> DocumentPath {
        let id = generator.chance(60) ? pick(Self.ids) : "x\(Int.random(in: 0..<40, using: &generator))"
        guard let id = try? DocumentPath.ID(id) else { preconditionFailure("all literals are valid") }
        return pick(Self.collections).document(id)
    }

    package mutating func fields() -> MapValue {
        var fields = MapValue()
        for field in Self.fields where generator.chance(55) { fields.set(value(), at: field) }
        if generator.chance(70) { fields.set(.integer(Int64.random(in: -3...3, using: &generator)), at: Self.fields[2]) }
        if generator.chance(60) { fields.set(.array(elements()), at: Self.fields[6]) }
        if generator.chance(70) { fields.set(generator.chance(90) ? .geoPoint(point()) : value(), at: Self.location) }
        if generator.chance(70) { fields.set(generator.chance(85) ? .vector(vector()) : value(), at: Self.vector) }
        return fields
    }

    /// Returns a value of any type; numbers and strings are more frequent.
    package mutating func value(depth: Int = 2) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 16 : 13), using: &generator) {
        case 0: .null
        case 1: .boolean(Bool.random(using: &generator))
        case 2, 3, 4: .integer(pick([.min, -1, 0, 1, 2, 3, 1 << 53, 1 << 53 + 1, .max]))
        case 5, 6: .double(pick([.nan, -.infinity, -0x1p63, -0.0, 0, 1, 1.5, 3, 0x1p53, 0x1p63, .infinity]))
        case 7: .timestamp(pick([.minimum, .maximum]))
        case 8, 9: .string(pick(["", "a", "b", "é", "e\u{301}", "a\0", "Ｐ", "🐵"] + (generator.chance(20) ? Self.long : [])))
        case 10: .bytes(pick([[], [0], [1, 2], [255]] + (generator.chance(20) ? Self.long.map { Array($0.utf8) } : [])))
        case 11: .reference(path())
        case 12: .geoPoint(point())
        case 13: .array(elements(depth: depth - 1))
        case 14: .vector(vector())
        default: .map(map(depth: depth - 1))
        }
    }

    /// Returns array elements.
    package mutating func elements(depth: Int = 1) -> [Value] {
        (0..<Int.random(in: 0...3, using: &generator)).map { _ in element(depth: depth) }
    }

    package mutating func element(depth: Int = 1) -> Value {
        let value = value(depth: depth)
        if case .array = value { return .map(["in": value]) }
        return value
    }

    /// Returns one of a few points. No two denote the same location, where formulas differ by rounding errors, and the differences
    /// of coordinates are exact.
    package mutating func point() -> GeoPoint {
        let latitude = pick([-89.5, -33.875, -0.5, 0, 12.25, 53.5, 89.75])
        guard
            let point = try? GeoPoint(
                validatingLatitude: latitude,
                longitude: pick([-179.75, -122.125, -0.25, 0, 9.5, 151.25, 179.5])
            )
        else {
            preconditionFailure("all literals are in range")
        }
        return point
    }

    package mutating func vector() -> [Double] {
        (0..<(generator.chance(85) ? 3 : 2)).map { _ in Double(Int.random(in: -2...3, using: &generator)) }
    }

    package mutating func pick<T>(_ choices: [T]) -> T {
        choices[Int.random(in: choices.indices, using: &generator)]
    }

    private mutating func map(depth: Int) -> MapValue {
        var map = MapValue()
        for key: UTF8Key in ["x", "y"] where generator.chance(50) { map[key] = value(depth: depth) }
        return map
    }

    private static func field(_ text: String) -> FieldPath {
        guard let field = try? FieldPath(text) else { preconditionFailure("all literals are valid") }
        return field
    }

    private static func collection(_ text: String) -> CollectionPath {
        guard let path = try? CollectionPath(text) else { preconditionFailure("all literals are valid") }
        return path
    }
}
