import DocumentModel
import Foundation
import HearthClient
import Testing
import UTF8Text

@Suite("Codable round trips")
struct RoundTripTests {
    /// Expects that a value is encoded to the fields, and that the fields are decoded to the value.
    private func expect<T: Codable & Equatable>(_ value: T, _ expected: MapValue) throws {
        #expect(try fields(of: value) == expected)
        #expect(try decode(T.self, expected) == value)
    }

    private struct Numbers: Codable, Equatable {
        var boolean = true
        var int = -1
        var int8 = Int8.min
        var int16 = Int16.max
        var int32 = Int32.min
        var int64 = Int64.max
        var uint: UInt = 7
        var uint8 = UInt8.max
        var uint16 = UInt16.max
        var uint32 = UInt32.max
        var uint64: UInt64 = 9_223_372_036_854_775_807
        var float: Float = 1.5
        var double = -0.0
    }

    @Test func `Numbers of all types round-trip`() throws {
        try expect(
            Numbers(),
            [
                "boolean": .boolean(true), "int": .integer(-1), "int8": .integer(-128), "int16": .integer(32_767),
                "int32": .integer(-2_147_483_648), "int64": .integer(.max), "uint": .integer(7), "uint8": .integer(255),
                "uint16": .integer(65_535), "uint32": .integer(4_294_967_295), "uint64": .integer(.max), "float": .double(1.5),
                "double": .double(-0.0),
            ]
        )
    }

    private struct NativeTypes: Codable, Equatable {
        var text = "é\u{2028}🄟"
        var date = Date(timeIntervalSinceReferenceDate: 0.25)
        var url = URL(string: "https://example.org/a?b=c")
        var data = Data([0, 255])
        var decimal = Decimal(string: "3.133")
        var point = GeoPoint(latitude: 53.5, longitude: 9.9)
        var time = Timestamp(seconds: 1, nanoseconds: 5_000)
        var vector = VectorValue([1, -2.5])
        var reference = offlineDatabase.document("books/b")
    }

    @Test func `Types with a native representation round-trip`() throws {
        try expect(
            NativeTypes(),
            [
                "text": .string("é\u{2028}🄟"), "date": .timestamp(try Timestamp(rfc3339: "2001-01-01T00:00:00.25Z")),
                "url": .string("https://example.org/a?b=c"), "data": .bytes([0, 255]), "decimal": .double(3.133),
                "point": .geoPoint(GeoPoint(latitude: 53.5, longitude: 9.9)),
                "time": .timestamp(try Timestamp(microseconds: 1_000_005)), "vector": .vector([1, -2.5]),
                "reference": .reference(try DocumentPath("books/b")),
            ]
        )
    }

    private enum Status: String, Codable {
        case draft
        case inReview = "in review"
    }

    private enum Grade: Int, Codable {
        case good = 1
    }

    private struct Article: Codable, Equatable {
        var title: String
        var status = Status.inReview
        var grades: [Grade: String] = [:]
        var note = "not stored"

        private enum CodingKeys: String, CodingKey {
            case title = "article_title"
            case status
        }
    }

    @Test func `Enums and custom coding keys round-trip, and excluded properties are omitted`() throws {
        try expect(Article(title: "a"), ["article_title": .string("a"), "status": .string("in review")])
    }

    private struct Nested: Codable, Equatable {
        struct Tag: Codable, Hashable {
            var title: String
            var color: HearthClient.HexColor?
        }

        var tags: [Tag]
        var byName: [String: Tag]
        var main: Tag
        var names: Set<String> = ["x"]
        var counts = [1, 2]
        var shares = [0.5, 2.0]
        var times = [Date(timeIntervalSince1970: 0)]
        var optionals: [Int?] = [1, nil]
    }

    @Test func `Nested types, arrays, dictionaries and sets round-trip`() throws {
        let tag = Nested.Tag(title: "fun", color: HearthClient.HexColor(hex: "#ec4be9"))
        let value: Value = .map(["title": .string("fun"), "color": .string("#ec4be9")])
        try expect(
            Nested(tags: [tag, Nested.Tag(title: "plain")], byName: ["the.one": tag], main: tag),
            [
                "tags": .array([value, .map(["title": .string("plain")])]), "byName": .map(["the.one": value]), "main": value,
                "names": .array([.string("x")]), "counts": .array([.integer(1), .integer(2)]),
                "shares": .array([.double(0.5), .double(2)]),
                "times": .array([.timestamp(try Timestamp(microseconds: 0))]), "optionals": .array([.integer(1), .null]),
            ]
        )
    }

    private struct Optionals: Codable, Equatable {
        var int: Int?
        var text: String?
        var date: Date?
        var inner: [String: Int]?
    }

    @Test func `nil optionals are omitted, and null is decoded as nil`() throws {
        try expect(Optionals(), [:])
        #expect(try decode(Optionals.self, ["int": .null, "text": .null, "date": .null, "inner": .null]) == Optionals())
        try expect(Optionals(int: 1, inner: ["a": 2]), ["int": .integer(1), "inner": .map(["a": .integer(2)])])
    }

    @Test func `Dictionaries and empty types round-trip`() throws {
        try expect(["a": ["b": 1]], ["a": .map(["b": .integer(1)])])
        struct Empty: Codable, Equatable {}
        try expect(Empty(), [:])
        try expect(["a": Empty()], ["a": .map([:])])
    }

    @Test func `Enums with associated values round-trip`() throws {
        enum Shape: Codable, Equatable {
            case circle(radius: Double)
            case point
        }
        try expect(["a": Shape.circle(radius: 2)], ["a": .map(["circle": .map(["radius": .double(2)])])])
        try expect(["a": Shape.point], ["a": .map(["point": .map([:])])])
    }

    @Test func `Types with a single-value container round-trip`() throws {
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        try expect(["id": id], ["id": .string("E621E1F8-C36C-495A-93FC-0C247A3E6E5F")])
    }

    @Test func `Dates preserve microseconds for more than a century around 2001`() throws {
        for text in [
            "1843-01-01T16:58:32Z", "2014-09-09T08:00:47.123457Z", "0001-01-01T00:00:00Z", "2136-12-31T23:59:59.999999Z",
        ] {
            let time = try Timestamp(rfc3339: text)
            let date = try decode([String: Date].self, ["a": .timestamp(time)])
            #expect(try fields(of: date) == ["a": .timestamp(time)], "\(text)")
        }
    }

    @Test func `Each price is stored as the nearest double, and is equal when it is decoded`() throws {
        for cents in 0..<100_000 {
            let price = Decimal(cents) / 100
            let stored = try fields(of: ["price": price])
            let text = "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)"
            guard stored == ["price": .double(try #require(Double(text)))],
                try decode([String: Decimal].self, stored) == ["price": price]
            else {
                Issue.record("\(text) is stored as \(stored)")
                break
            }
        }
    }

    @Test func `A value is decoded as the class that is passed, not as the static one`() throws {
        class Base: Decodable {}
        final class Derived: Base {}
        let type: Base.Type = Derived.self
        #expect(try decode(type, [:]) is Derived)
    }
}
