import DocumentModel
import Testing
import UTF8Text

@Suite("Value order")
struct ValueOrderTests {
    /// Strings whose order by UTF-16 or by collation differs.
    static let names = ["Sierpiński", "Łukasiewicz", "岩澤", "︒", "Ｐ", "🄟", "🐵"]

    static let pinned: [[Value]] = [
        [.null],
        [.boolean(false)],
        [.boolean(true)],
        [.double(.nan)],
        [.double(-.infinity)],
        [.double(-.greatestFiniteMagnitude)],
        [.double(-0x1p63), .integer(.min)],
        [.integer(.min + 1)],
        [.integer(-1), .double(-1)],
        [.double(-.leastNonzeroMagnitude)],
        [.integer(0), .double(0), .double(-0.0)],
        [.double(.leastNonzeroMagnitude)],
        [.integer(3), .double(3)],
        [.double(3.5)],
        [.integer(1 << 53), .double(0x1p53)],
        [.integer(1 << 53 + 1)],
        [.integer(1 << 53 + 2), .double(0x1p53 + 2)],
        [.integer(.max - 1)],
        [.integer(.max)],
        [.double(0x1p63)],
        [.double(.infinity)],
        [.timestamp(.minimum)],
        [.timestamp(.maximum)],
        [.string("")],
        [.string("\0")],
        [.string("a")],
        [.string("a\0")],
        [.string("e\u{301}")],
        [.string("\u{e9}")],
        [.bytes([])],
        [.bytes([0])],
        [.bytes([0, 0])],
        [.bytes([0x7f, 0xff])],
        [.bytes([0x80])],
        [.bytes([0xff])],
    ]

    static let pinnedVectors: [[Value]] = [
        [.array([1, 2, 3, 4, 5, 6].map { .integer($0) })],
        [.array([.integer(100)])],
        [.vector([-.infinity])],
        [.vector([-100])],
        [.vector([100])],
        [.vector([.infinity])],
        [.vector([1, 2])],
        [.vector([2, 2])],
        [.vector([1, 2, 3])],
        [.vector([1, 2, 3, 4])],
        [.vector([1, 2, 3, 4, 5])],
        [.vector([1, 2, 100, 4, 4])],
        [.vector([100, 2, 3, 4, 5])],
        [.map(["HELLO": .string("WORLD")])],
        [.map(["hello": .string("world")])],
    ]

    static let pinnedArrays: [[Value]] = [
        [.array([])],
        [.array([.null])],
        [.array([1, 2, 3].map { .integer($0) }), .array([1, 2, 3].map { .double($0) })],
        [.array([1, 2, 3, 1].map { .integer($0) })],
        [.array([.integer(2)])],
    ]

    static let pinnedMaps: [[Value]] = [
        [.map([:])],
        [.map(["a": .string("aaa"), "b": .string("baz")])],
        [.map(["a": .string("foo"), "b": .string("bar")])],
        [.map(["a": .string("foo"), "b": .string("bar"), "c": .string("qux")])],
        [.map(["a": .string("foo"), "b": .string("baz")])],
        [.map(["b": .string("aaa"), "c": .string("baz")])],
        [.map(["c": .string("aaa")])],
    ]

    static let pinnedTexts =
        names.map { [Value.string($0)] } + names.map { [.array([.string($0)])] } + names.map { [.map([UTF8Key($0): .null])] }
        + names.map { [.map(["🐵🐵": .string($0)])] }

    @Test(
        arguments: [
            pinned, pinnedVectors, pinnedArrays, pinnedMaps, pinnedTexts,
        ]
    )
    func `Values are ordered as in Firestore's documentation and clients`(_ ranks: [[Value]]) {
        for (left, leftRank) in ranks.enumerated().flatMap({ rank, values in values.map { ($0, rank) } }) {
            for (right, rightRank) in ranks.enumerated().flatMap({ rank, values in values.map { ($0, rank) } }) {
                let expected: Comparison = leftRank < rightRank ? .less : leftRank == rightRank ? .equal : .greater
                #expect(left.compared(to: right) == expected, "\(left) to \(right)")
            }
        }
    }

    @Test
    func `Types are ordered from null to map`() throws {
        let types: [Value] = [
            .null, .boolean(true), .double(.nan), .integer(.max), .timestamp(.minimum), .string(""), .bytes([]),
            .reference(try DocumentPath("a/b")), .geoPoint(try GeoPoint(validatingLatitude: -90, longitude: -180)), .array([]),
            .vector([]), .map([:]),
        ]
        for (left, right) in zip(types, types.dropFirst()) {
            #expect(left.compared(to: right) == .less)
            #expect(right.compared(to: left) == .greater)
        }
    }

    @Test
    func `Geo points are ordered by latitude, then longitude`() throws {
        let points: [(Double, Double)] = [(-90, 180), (0, -180), (0, 180), (1, -180), (90, 0)]
        let values = try points.map { Value.geoPoint(try GeoPoint(validatingLatitude: $0.0, longitude: $0.1)) }
        #expect(zip(values, values.dropFirst()).allSatisfy { $0.compared(to: $1) == .less })
        let zero = Value.geoPoint(try GeoPoint(validatingLatitude: 0, longitude: 0))
        #expect(zero.isEqual(to: .geoPoint(try GeoPoint(validatingLatitude: -0.0, longitude: -0.0))))
    }

    @Test
    func `References are ordered by path segment`() throws {
        let paths = ["a/__id7__", "a/__id12__", "a/12", "a/b", "a/b/c/d", "a/b-/c/d", "a/b0", "b/a"]
        let values = try paths.map { Value.reference(try DocumentPath($0)) }
        #expect(zip(values, values.dropFirst()).allSatisfy { $0.compared(to: $1) == .less })
    }
}
