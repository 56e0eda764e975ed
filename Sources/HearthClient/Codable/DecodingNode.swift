internal import DocumentModel
internal import UTF8Text

/// A value being decoded. It is the `Decoder` passed to its type.
final class DecodingNode: CodingNode {
    let session: DecodingSession
    let value: Value
    let parent: DecodingNode?
    let key: (any CodingKey)?
    /// True if this map is decoded to a dictionary, whose keys are exempt from the key strategy.
    private let isDictionary: Bool

    /// Creates the root node of a document.
    init(_ value: Value, session: DecodingSession) {
        self.session = session
        self.value = value
        parent = nil
        key = nil
        isDictionary = false
    }

    init(_ value: Value, in parent: DecodingNode, at key: (any CodingKey)?, isDictionary: Bool = false) {
        session = parent.session
        self.value = value
        self.parent = parent
        self.key = key
        self.isDictionary = isDictionary
    }

    /// Decodes a nested value.
    func decode<T: Decodable>(_ type: T.Type, from value: Value, at key: any CodingKey) throws -> T {
        if let known = try nativeValue(type, value, key) { return known }
        let isDictionary = session.strategies.convertsKeys && T.self is any StringKeyedDictionary.Type
        return try DecodingNode(value, in: self, at: key, isDictionary: isDictionary).decodeViaCodable(type)
    }

    /// Decodes this value.
    func decodeCurrentValue<T: Decodable>(_ type: T.Type) throws -> T {
        if let known = try nativeValue(type, value, nil) { return known }
        guard !isDictionary, session.strategies.convertsKeys, T.self is any StringKeyedDictionary.Type else {
            return try decodeViaCodable(type)
        }
        // In a separate node, exempt from the key strategy.
        return try DecodingNode(value, in: self, at: nil, isDictionary: true).decodeViaCodable(type)
    }
}

extension DecodingNode: Swift.Decoder {
    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let map) = value else { throw mismatch([String: Any].self, value, nil) }
        return KeyedDecodingContainer(MapDecodingContainer(node: self, map: converted(map)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([Any].self, value, nil) }
        return ArrayDecodingContainer(node: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        self
    }

    /// Returns the map with its keys converted by the key strategy.
    private func converted(_ map: MapValue) -> MapValue {
        guard !isDictionary, session.strategies.convertsKeys else { return map }
        return MapValue(
            map.map { name, value in
                switch session.strategies.key {
                case .useDefaultKeys: (name, value)
                case .convertFromSnakeCase: (UTF8Key(SnakeCase.toCamelCase(name.string)), value)
                case .custom(let convert):
                    (UTF8Key(convert(codingPath(to: AnyCodingKey.name(name.string))).stringValue), value)
                }
            }
        )
    }
}

extension DecodingNode {
    /// Returns the error for a missing field.
    func missing(_ key: some CodingKey, in map: MapValue) -> DecodingError {
        let names = map.keys.prefix(20).map { Excerpt($0.string).text }.joined(separator: ", ")
        let found = map.isEmpty ? "none" : map.count > 20 ? "\(names) and \(map.count - 20) more" : names
        return .keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "Expected a field named \(Excerpt(key.stringValue)). Existing fields: \(found)."
            )
        )
    }

    /// Returns the error for a value of an unexpected type.
    func mismatch(_ expected: any Any.Type, _ value: Value, _ key: (any CodingKey)?) -> DecodingError {
        let path = codingPath(to: key)
        if case .null = value {
            let found = path.isEmpty ? "no document" : "null"
            return .valueNotFound(
                expected,
                .init(codingPath: path, debugDescription: "Expected to decode \(expected), found \(found).")
            )
        }
        return .typeMismatch(
            expected,
            .init(codingPath: path, debugDescription: "Expected to decode \(expected), found \(value.typeName).")
        )
    }

    /// Returns the error for a value of the expected type that cannot be converted.
    func corrupted(_ description: String, _ key: (any CodingKey)?) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath(to: key), debugDescription: description))
    }
}

extension Value {
    /// The name of the type with its article, for error messages.
    fileprivate var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .double: "a double"
        case .timestamp: "a timestamp"
        case .string: "a string"
        case .bytes: "bytes"
        case .reference: "a reference"
        case .geoPoint: "a geo point"
        case .array: "an array"
        case .vector: "a vector"
        case .map: "a map"
        }
    }
}

extension DecodingNode: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        if case .null = value { true } else { false }
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try decodeCurrentValue(type)
    }

    func decode(_ type: Bool.Type) throws -> Bool { try boolean(value, nil) }
    func decode(_ type: String.Type) throws -> String { try string(value, nil) }
    func decode(_ type: Double.Type) throws -> Double { try double(value, nil) }
    func decode(_ type: Float.Type) throws -> Float { try float(value, nil) }
    func decode(_ type: Int.Type) throws -> Int { try integer(value, nil) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(value, nil) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(value, nil) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(value, nil) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(value, nil) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(value, nil) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(value, nil) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(value, nil) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(value, nil) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(value, nil) }
}
