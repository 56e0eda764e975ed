import DocumentModel
import Foundation
import Testing
import UTF8Text

@testable import HearthClient

@Suite("User data reader")
struct UserDataReaderTests {
    @Test func `Converts all types to values and back`() throws {
        let date = Date(timeIntervalSince1970: 1)
        let dictionary: [String: Any] = [
            "string": "é", "bool": true, "int": 1, "int8": Int8(-1), "uint": UInt(2), "double": 1.0, "float": Float(0.5),
            "date": date, "timestamp": Timestamp(seconds: 1, nanoseconds: 0), "point": GeoPoint(latitude: 1, longitude: 2),
            "data": Data([1]), "vector": FieldValue.vector([1.5]), "reference": offlineDatabase.document("a/b"), "null": NSNull(),
            "nil": Int?.none as Any, "optional": Int?.some(3) as Any, "strings": ["a", "b"],
            "list": [1, "x", ["y": [2]]] as [Any],
            "map": ["inner": 1], "width": CGFloat(0.25), "price": Decimal(string: "19.99") as Any, "number": NSNumber(value: 7),
            "yes": NSNumber(value: true), "half": NSNumber(value: 0.5),
        ]
        let time = Value.timestamp(try Timestamp(microseconds: 1_000_000))
        let expected: MapValue = [
            "string": .string("é"), "bool": .boolean(true), "int": .integer(1), "int8": .integer(-1), "uint": .integer(2),
            "double": .double(1), "float": .double(0.5), "date": time, "timestamp": time,
            "point": .geoPoint(GeoPoint(latitude: 1, longitude: 2)), "data": .bytes([1]), "vector": .vector([1.5]),
            "reference": .reference(try DocumentPath("a/b")), "null": .null, "nil": .null, "optional": .integer(3),
            "strings": .array([.string("a"), .string("b")]),
            "list": .array([.integer(1), .string("x"), .map(["y": .array([.integer(2)])])]), "map": .map(["inner": .integer(1)]),
            "width": .double(0.25), "price": .double(19.99), "number": .integer(7), "yes": .boolean(true), "half": .double(0.5),
        ]
        #expect(try DocumentData(dictionary).fields == expected)
        let back = expected.dictionary(in: offlineDatabase)
        #expect(back["int"] as? Int == 1)
        #expect(back["double"] as? Double == 1)
        #expect(back["null"] is NSNull)
        #expect(back["data"] as? Data == Data([1]))
        #expect(back["reference"] as? DocumentReference == offlineDatabase.document("a/b"))
        #expect((back["map"] as? [String: Any])?["inner"] as? Int == 1)
        #expect(try DocumentData(back).fields == expected)
    }

    @Test func `A number can be cast to each numeric type that has its value`() throws {
        let fields: MapValue = ["whole": .integer(150), "negative": .integer(-1), "half": .double(1.5), "two": .double(2)]
        let data = fields.dictionary(in: nil)
        let whole = try #require(data["whole"])
        #expect(whole as? Int == 150 && whole as? Int64 == 150 && whole as? UInt == 150 && whole as? UInt8 == 150)
        #expect(whole as? Double == 150 && whole as? Float == 150 && whole as? NSNumber == 150)
        #expect(whole as? Int8 == nil && whole as? String == nil)
        #expect(data["negative"] as? Int == -1 && data["negative"] as? UInt == nil)
        #expect(data["half"] as? Double == 1.5 && data["half"] as? Int == nil)
        #expect(data["two"] as? Double == 2 && data["two"] as? Int == 2)
        let list = Value.array([.integer(1), .integer(2)])
        #expect(list.any(in: nil) as? [Int] == [1, 2])
        // Integers and doubles remain what they are when they are written again.
        #expect(try DocumentData(data).fields == fields)
    }

    @Test func `Values that were read keep their types in optionals`() throws {
        let fields: MapValue = [
            "0": .integer(0), "1": .integer(1), "5": .integer(5), "one": .double(1), "yes": .boolean(true), "nothing": .null,
        ]
        let data = fields.dictionary(in: nil)
        let optionals = Dictionary(uniqueKeysWithValues: data.keys.map { ($0, data[$0]) })
        let twice = Dictionary(uniqueKeysWithValues: data.keys.map { ($0, Optional.some(data[$0]) as Any) })
        #expect(try DocumentData(optionals.mapValues { $0 as Any }).fields == fields)
        #expect(try DocumentData(twice).fields == fields)
        let list: [Any?] = [data["1"], data["one"], data["yes"], nil]
        let nested: [String: Any] = ["map": optionals, "list": list]
        let values: [Value] = [.integer(1), .double(1), .boolean(true), .null]
        #expect(try DocumentData(nested).fields == ["map": .map(fields), "list": .array(values)])
    }

    @Test func `Rejects unsupported types with the field path`() throws {
        let error = #expect(throws: StatusError.self) { try DocumentData(["a": ["b": [URL(filePath: "/")]]]) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message == "Unsupported type: URL. Use setData(from:) for Encodable types (found in field \"a.b\").")
        #expect(throws: StatusError.self) { try DocumentData(["a": UInt64.max]) }
        #expect(throws: StatusError.self) { try DocumentData(["a": [FieldValue.delete()]]) }
        #expect(throws: StatusError.self) { try DocumentData(["a": [["b": FieldValue.serverTimestamp()]]]) }
        let union = try DocumentData(["a": FieldValue.arrayUnion([FieldValue.delete()])])
        #expect(throws: StatusError.self) { try union.transforms() }
    }

    @Test func `Dictionaries can be decoded to types`() throws {
        struct Book: Decodable, Equatable {
            var title: String
            var written: Date
        }
        let data: [String: Any] = ["title": "x", "written": Timestamp(seconds: 1, nanoseconds: 0), "more": 1]
        let book = try Firestore.Decoder().decode(Book.self, from: data)
        #expect(book == Book(title: "x", written: Date(timeIntervalSince1970: 1)))
        #expect(throws: DecodingError.self) { try Firestore.Decoder().decode(Book.self, from: ["title": Self.self]) }
    }
}
