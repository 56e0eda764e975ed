import DocumentModel
import Foundation
import Testing
import UTF8Text

@testable import HearthClient

@Suite("Coding strategies")
struct StrategyTests {
    private static let date = Date(timeIntervalSince1970: 1_000_000_000)

    @Test func `Date strategies apply to encoding and decoding`() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy/MM/dd HH:mm:ss"
        let strategies: [(FirebaseDataEncoder.DateEncodingStrategy, FirebaseDataDecoder.DateDecodingStrategy, Value)] = [
            (.timestamp, .timestamp, .timestamp(Timestamp(seconds: 1_000_000_000, nanoseconds: 0))),
            (.deferredToDate, .deferredToDate, .double(Self.date.timeIntervalSinceReferenceDate)),
            (.secondsSince1970, .secondsSince1970, .double(1_000_000_000)),
            (.millisecondsSince1970, .millisecondsSince1970, .double(1_000_000_000_000)),
            (.iso8601, .iso8601, .string("2001-09-09T01:46:40Z")),
            (.formatted(formatter), .formatted(formatter), .string("2001/09/09 01:46:40")),
            (
                .custom { date, encoder in
                    var container = encoder.singleValueContainer()
                    try container.encode("at \(Int(date.timeIntervalSince1970))")
                },
                .custom { decoder in
                    let text = try decoder.singleValueContainer().decode(String.self)
                    return Date(timeIntervalSince1970: Double(text.dropFirst(3)) ?? 0)
                },
                .string("at 1000000000")
            ),
        ]
        for (encoding, decoding, value) in strategies {
            let encoder = Firestore.Encoder()
            encoder.dateEncodingStrategy = encoding
            #expect(try fields(of: ["a": Self.date], with: encoder) == ["a": value])
            #expect(try fields(of: ["a": [Self.date]], with: encoder) == ["a": .array([value])])
            let decoder = Firestore.Decoder()
            decoder.dateDecodingStrategy = decoding
            #expect(try decode([String: Date].self, ["a": value], with: decoder) == ["a": Self.date])
            #expect(try decode([String: Date?].self, ["a": value], with: decoder) == ["a": Self.date])
            let wrong = try #require(throws: DecodingError.self) {
                try decode([String: Date].self, ["a": .boolean(true)], with: decoder)
            }
            #expect(wrong.path == ["a"])
        }
    }

    @Test func `Data strategies apply to encoding and decoding`() throws {
        let data = Data([1, 250])
        let strategies: [(FirebaseDataEncoder.DataEncodingStrategy, FirebaseDataDecoder.DataDecodingStrategy, Value)] = [
            (.blob, .blob, .bytes([1, 250])), (.base64, .base64, .string("Afo=")), (.base64, .blob, .string("Afo=")),
            (.deferredToData, .deferredToData, .array([.integer(1), .integer(250)])),
            (
                .custom { data, encoder in
                    var container = encoder.unkeyedContainer()
                    try container.encode(data.count)
                },
                .custom { decoder in
                    var container = try decoder.unkeyedContainer()
                    return try container.decode(Int.self) == 2 ? Data([1, 250]) : Data()
                },
                .array([.integer(2)])
            ),
        ]
        for (encoding, decoding, value) in strategies {
            let encoder = Firestore.Encoder()
            encoder.dataEncodingStrategy = encoding
            #expect(try fields(of: ["a": data], with: encoder) == ["a": value])
            let decoder = Firestore.Decoder()
            decoder.dataDecodingStrategy = decoding
            #expect(try decode([String: Data].self, ["a": value], with: decoder) == ["a": data])
        }
    }

    private struct Camel: Codable, Equatable {
        struct Inner: Codable, Equatable {
            var smallImage = 1
        }

        var coverImage = Inner()
        var byName = ["keptAsIs": Inner()]
    }

    @Test func `Key strategies don't affect dictionary keys`() throws {
        let encoder = Firestore.Encoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let inner: Value = .map(["small_image": .integer(1)])
        let expected: MapValue = ["cover_image": inner, "by_name": .map(["keptAsIs": inner])]
        #expect(try fields(of: Camel(), with: encoder) == expected)
        let decoder = Firestore.Decoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try decode(Camel.self, expected, with: decoder) == Camel())
    }

    private struct Wrapped: Codable, Equatable {
        var names = ["keptAsIs": Camel.Inner()]

        init() {}

        init(from decoder: any Swift.Decoder) throws {
            names = try decoder.singleValueContainer().decode([String: Camel.Inner].self)
        }

        func encode(to encoder: any Swift.Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(names)
        }
    }

    @Test func `Key strategies don't affect dictionaries at the root or in a single-value container`() throws {
        let encoder = Firestore.Encoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let decoder = Firestore.Decoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let names: MapValue = ["keptAsIs": .map(["small_image": .integer(1)])]
        #expect(try fields(of: Wrapped(), with: encoder) == names)
        #expect(try decode(Wrapped.self, names, with: decoder) == Wrapped())
        #expect(try fields(of: ["a_b": Wrapped()], with: encoder) == ["a_b": .map(names)])
        #expect(try decode([String: Wrapped].self, ["a_b": .map(names)], with: decoder) == ["a_b": Wrapped()])
        let time = try encoder.documentData(["inner": ["keptAsIs": FieldValue.serverTimestamp()]])
        #expect(time.sentinels.map(\.path.description) == ["inner.keptAsIs"])
    }

    @Test func `Custom key strategies receive the whole path`() throws {
        let encoder = Firestore.Encoder()
        encoder.keyEncodingStrategy = .custom { path in AnyCodingKey.name(path.map(\.stringValue).joined(separator: "_")) }
        let inner: Value = .map(["coverImage_smallImage": .integer(1)])
        let fields = try fields(of: Camel(), with: encoder)
        #expect(fields["coverImage"] == inner)
        let decoder = Firestore.Decoder()
        decoder.keyDecodingStrategy = .custom { path in
            AnyCodingKey.name(String(path.last?.stringValue.split(separator: "_").last ?? ""))
        }
        #expect(try decode(Camel.self, fields, with: decoder) == Camel())
    }

    @Test(arguments: [
        ("simple", "simple"), ("oneTwoThree", "one_two_three"), ("myURLProperty", "my_url_property"), ("anID", "an_id"),
        ("_private", "_private"), ("trailing_", "trailing_"), ("a1B", "a1_b"), ("A", "a"), ("", ""),
    ]) func `Converts camel case to snake case`(camel: String, snake: String) {
        #expect(SnakeCase.fromCamelCase(camel) == snake)
    }

    @Test(arguments: [
        ("one_two_three", "oneTwoThree"), ("_one_two_", "_oneTwo_"), ("one__two", "oneTwo"), ("simple", "simple"),
        ("keptAsIs", "keptAsIs"), ("___", "___"), ("", ""), ("one_TWO", "oneTwo"),
    ]) func `Converts snake case to camel case`(snake: String, camel: String) {
        #expect(SnakeCase.toCamelCase(snake) == camel)
    }

    @Test func `Passes user info to the types`() throws {
        struct UserInfoReader: Codable, Equatable {
            var text = ""
            init() {}
            init(from decoder: any Swift.Decoder) throws { text = decoder.userInfo[Self.key] as? String ?? "" }
            func encode(to encoder: any Swift.Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(encoder.userInfo[Self.key] as? String)
            }
            static let key = CodingUserInfoKey(rawValue: "example")!  // Every string is a key.
        }
        let encoder = Firestore.Encoder()
        encoder.userInfo = [UserInfoReader.key: "x"]
        #expect(try fields(of: ["a": UserInfoReader()], with: encoder) == ["a": .string("x")])
        let decoder = Firestore.Decoder()
        decoder.userInfo = [UserInfoReader.key: "y"]
        #expect(try decode([String: UserInfoReader].self, ["a": .null], with: decoder)["a"]?.text == "y")
    }
}
