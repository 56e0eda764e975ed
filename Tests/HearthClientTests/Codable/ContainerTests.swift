import DocumentModel
import HearthClient
import Testing
import UTF8Text

@Suite("Coding containers")
struct ContainerTests {
    private class Animal: Codable {
        var name: String

        init(name: String) { self.name = name }
    }

    private final class Dog: Animal {
        var tricks: Int

        init(name: String, tricks: Int) {
            self.tricks = tricks
            super.init(name: name)
        }

        private enum CodingKeys: String, CodingKey { case tricks }

        required init(from decoder: any Swift.Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            tricks = try container.decode(Int.self, forKey: .tricks)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Swift.Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(tricks, forKey: .tricks)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func `Encodes and decodes a superclass`() throws {
        let expected: MapValue = ["tricks": .integer(3), "super": .map(["name": .string("Rex")])]
        #expect(try fields(of: Dog(name: "Rex", tricks: 3)) == expected)
        let dog = try decode(Dog.self, expected)
        #expect(dog.name == "Rex" && dog.tricks == 3)
        let wrong = try #require(throws: DecodingError.self) {
            try decode(Dog.self, ["tricks": .integer(3), "super": .map(["name": .integer(1)])])
        }
        #expect(wrong.path == ["super", "name"])
        let missing = try #require(throws: DecodingError.self) { try decode(Dog.self, ["tricks": .integer(3)]) }
        #expect(missing.kind == "valueNotFound Dictionary<String, Any>")
    }

    private struct Flat: Codable, Equatable {
        var latitude = 1.0
        var longitude = 2.0
        var numbers = [1, 2]
        var last = true

        enum CodingKeys: String, CodingKey { case place, numbers, own }
        enum LocationKeys: String, CodingKey { case latitude, longitude }

        init() {}

        init(from decoder: any Swift.Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let place = try container.nestedContainer(keyedBy: LocationKeys.self, forKey: .place)
            latitude = try place.decode(Double.self, forKey: .latitude)
            longitude = try place.decode(Double.self, forKey: .longitude)
            var list = try container.nestedUnkeyedContainer(forKey: .numbers)
            var inner = try list.nestedContainer(keyedBy: LocationKeys.self)
            numbers = [try inner.decode(Int.self, forKey: .latitude)]
            inner = try list.nestedContainer(keyedBy: LocationKeys.self)
            numbers.append(try inner.decode(Int.self, forKey: .latitude))
            last = try Bool(from: container.superDecoder(forKey: .own))
        }

        func encode(to encoder: any Swift.Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            var first = container.nestedContainer(keyedBy: LocationKeys.self, forKey: .place)
            var second = container.nestedContainer(keyedBy: LocationKeys.self, forKey: .place)
            try second.encode(longitude, forKey: .longitude)
            try first.encode(latitude, forKey: .latitude)
            var list = container.nestedUnkeyedContainer(forKey: .numbers)
            for number in numbers {
                var inner = list.nestedContainer(keyedBy: LocationKeys.self)
                try inner.encode(number, forKey: .latitude)
            }
            try last.encode(to: container.superEncoder(forKey: .own))
        }
    }

    @Test func `Merges nested containers for the same key`() throws {
        let expected: MapValue = [
            "place": .map(["latitude": .double(1), "longitude": .double(2)]),
            "numbers": .array([.map(["latitude": .integer(1)]), .map(["latitude": .integer(2)])]), "own": .boolean(true),
        ]
        #expect(try fields(of: Flat()) == expected)
        #expect(try decode(Flat.self, expected) == Flat())
        let wrong = try #require(throws: DecodingError.self) {
            try decode(
                Flat.self,
                [
                    "place": .map(["latitude": .double(1), "longitude": .string("x")]), "numbers": .array([]),
                    "own": .boolean(true),
                ]
            )
        }
        #expect(wrong.path == ["place", "longitude"])
    }

    @Test func `Keeps the last value of a key encoded twice`() throws {
        struct DuplicateKey: Encodable {
            func encode(to encoder: any Swift.Encoder) throws {
                var container = encoder.container(keyedBy: Flat.CodingKeys.self)
                try container.encode(1, forKey: .own)
                try container.encode(2, forKey: .own)
            }
        }
        #expect(try fields(of: DuplicateKey()) == ["own": .integer(2)])
    }

    @Test func `Supports inspection of containers while decoding`() throws {
        struct Inspecting: Decodable {
            var names: [String]
            var hasLocation: Bool
            var isNull: Bool
            var count: Int?

            init(from decoder: any Swift.Decoder) throws {
                let container = try decoder.container(keyedBy: Flat.CodingKeys.self)
                names = container.allKeys.map(\.stringValue)
                hasLocation = container.contains(.place)
                isNull = try container.decodeNil(forKey: .own)
                var list = try container.nestedUnkeyedContainer(forKey: .numbers)
                count = list.count
                guard try list.decodeNil(), list.currentIndex == 1, try !list.decodeNil() else { return }
                _ = try list.decode(Int.self)
                _ = try list.decode(Int.self)
            }
        }
        let fields: MapValue = ["numbers": .array([.null, .integer(1)]), "own": .null, "unknown": .null]
        let error = try #require(throws: DecodingError.self) { try decode(Inspecting.self, fields) }
        #expect(error.kind == "valueNotFound Int")
        #expect(error.path == ["numbers", "Index 2"])
        let inspecting = try decode(Inspecting.self, ["numbers": .array([.integer(1)]), "own": .integer(1), "place": .null])
        #expect(Set(inspecting.names) == ["numbers", "own", "place"])
        #expect(inspecting.hasLocation && !inspecting.isNull && inspecting.count == 1)
    }
}
