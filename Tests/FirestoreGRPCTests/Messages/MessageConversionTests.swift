import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import SwiftProtobuf
import Testing
import UTF8Text

@testable import FirestoreGRPC

@Suite("Values in protobuf messages")
struct MessageConversionTests {
    private static let database = DatabaseName(.standard)

    private static func roundTrip(_ value: Value) throws -> Value {
        let bytes: [UInt8] = try ProtoValue(value, in: database).serializedBytes()
        return try Value(ProtoValue(serializedBytes: bytes), in: database)
    }

    private static func values() throws -> [Value] {
        [
            .null, .boolean(false), .integer(0), .integer(.min), .double(-0.0), .double(.infinity), .string(""),
            .string("\u{0}🐵"), .bytes([]), .bytes([0, 255]), .timestamp(.minimum), .timestamp(.maximum),
            .timestamp(try Timestamp(microseconds: -1)), .reference(try DocumentPath("a/\u{e9}/b/e\u{301}")),
            .geoPoint(try GeoPoint(validatingLatitude: -90, longitude: 180)), .array([]), .map([:]), .vector([]),
            .vector([1, -2.5]), .array([.map(["$map": .array([.null])])]),
        ]
    }

    @Test(arguments: try values().indices)
    func `Every value is decoded as it was encoded`(index: Int) throws {
        let value = try Self.values()[index]
        #expect(try Self.roundTrip(value) == value)
    }

    @Test
    func `NaN is decoded as it was encoded`() throws {
        guard case .double(let number) = try Self.roundTrip(.double(.nan)) else { return #expect(Bool(false)) }
        #expect(number.isNaN)
    }

    @Test
    func `Field names that differ only in Unicode normalization are different`() throws {
        let fields: MapValue = MapValue([("\u{e9}", .integer(1)), ("e\u{301}", .integer(2))])
        guard case .map(let decoded) = try Self.roundTrip(.map(fields)) else { return #expect(Bool(false)) }
        #expect(decoded.count == 2)
        #expect(decoded == fields)
    }

    @Test
    func `The last of several entries with the same name wins`() throws {
        let decoded = try MapValue(entries(["a": 1, "b": 2, "a": 3]), in: Self.database)
        #expect(decoded == ["a": .integer(3), "b": .integer(2)])
    }

    @Test
    func `A document of the maximum depth is decoded`() throws {
        var value = Value.integer(1)
        for _ in 0..<20 { value = .map(["a": value]) }
        #expect(try Self.roundTrip(value) == value)
    }

    @Test
    func `Times are truncated to microseconds, toward the past`() throws {
        let message = Google_Protobuf_Timestamp(seconds: -1, nanos: 999_999_999)
        #expect(try Timestamp(message).microseconds == -1)
        let invalid: [(Int64, Int32)] = [
            (0, -1), (0, 1_000_000_000), (.max, 0), (.min, 0), (253_402_300_800, 0), (9_223_372_036_854, 999_999_999),
            (-9_223_372_036_855, 0),
        ]
        for (seconds, nanos) in invalid {
            let error = #expect(throws: StatusError.self) {
                try Timestamp(Google_Protobuf_Timestamp(seconds: seconds, nanos: nanos))
            }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test
    func `An update time with nanoseconds is rejected`() throws {
        let time = Google_Protobuf_Timestamp(seconds: 1, nanos: 7_000)
        #expect(try Precondition(.make { $0.updateTime = time }) == .updateTime(Timestamp(microseconds: 1_000_007)))
        let error = #expect(throws: StatusError.self) {
            try Precondition(.make { $0.updateTime = Google_Protobuf_Timestamp(seconds: 1, nanos: 7_008) })
        }
        #expect(error?.message.contains("1970-01-01T00:00:01.000007008Z") == true)
    }

    @Test(
        arguments: [
            (ProtoValue(), "field v"), (.array(1, ProtoValue()), "field v[1]"), (.map(["a": ProtoValue()]), "field v.a"),
            (.make { $0.referenceValue = "a/b" }, "name of a document"),
            (.make { $0.geoPointValue.latitude = 91 }, "latitude"),
            (.map(["__type__": "__vector__", "value": 1]), "array of numbers"),
        ] as [(ProtoValue, String)]
    )
    func `Errors name the field`(value: ProtoValue, text: String) throws {
        let error = #expect(throws: StatusError.self) { try MapValue(entries(["v": value]), in: Self.database) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.messageWithLocation.contains(text) == true)
    }
}
