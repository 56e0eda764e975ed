internal import DocumentModel
internal import StrictJSON

/// One value that is being decoded: the decoder that its type is given.
final class DecodingNode: CodingNode {
    let session: DecodingSession
    let value: Value
    let parent: DecodingNode?
    let key: (any CodingKey)?
    /// Whether the names in this map are a dictionary's, and stay as they are.
    private let isDictionary: Bool

    /// The top of a document.
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

    /// Decodes a value that stands in this one.
    func decode<T: Decodable>(_ type: T.Type, from value: Value, at key: any CodingKey) throws -> T {
        if let known = try knownValue(type, value, key) { return known }
        let isDictionary = session.strategies.convertsKeys && T.self is any StringKeyed.Type
        return try DecodingNode(value, in: self, at: key, isDictionary: isDictionary).decodeUnknown(type)
    }

    /// Decodes this value.
    func decodeItself<T: Decodable>(_ type: T.Type) throws -> T {
        if let known = try knownValue(type, value, nil) { return known }
        guard !isDictionary, session.strategies.convertsKeys, T.self is any StringKeyed.Type else {
            return try decodeUnknown(type)
        }
        // As a node of its own, whose keys stay as they are.
        return try DecodingNode(value, in: self, at: nil, isDictionary: true).decodeUnknown(type)
    }
}

extension DecodingNode: Swift.Decoder {
    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let map) = value else { throw mismatch([String: Any].self, value, nil) }
        return KeyedDecodingContainer(KeyedMembers(node: self, map: converted(map)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([Any].self, value, nil) }
        return UnkeyedElements(node: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        self
    }

    /// The map with the names that the key strategy makes of its own.
    private func converted(_ map: MapValue) -> MapValue {
        guard !isDictionary, session.strategies.convertsKeys else { return map }
        return MapValue(
            map.map { name, value in
                switch session.strategies.key {
                case .useDefaultKeys: (name, value)
                case .convertFromSnakeCase: (UTF8Key(SnakeCase.toCamelCase(name.string)), value)
                case .custom(let convert):
                    (UTF8Key(convert(codingPath(to: PlaceKey.name(name.string))).stringValue), value)
                }
            }
        )
    }
}

extension DecodingNode {
    /// The error for a field that is not there.
    func missing(_ key: some CodingKey, in map: MapValue) -> DecodingError {
        let names = map.keys.prefix(20).map { Excerpt($0.string).text }.joined(separator: ", ")
        let found = map.isEmpty ? "none" : map.count > 20 ? "\(names) and \(map.count - 20) more" : names
        return .keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "Expected a field named \(Excerpt(key.stringValue)). The fields there: \(found)."
            )
        )
    }

    /// The error for a value of another type than the one expected.
    func mismatch(_ expected: any Any.Type, _ value: Value, _ key: (any CodingKey)?) -> DecodingError {
        let path = codingPath(to: key)
        if case .null = value {
            let what = path.isEmpty ? "no document" : "null"
            return .valueNotFound(
                expected,
                .init(codingPath: path, debugDescription: "Expected to decode \(expected), found \(what).")
            )
        }
        return .typeMismatch(
            expected,
            .init(codingPath: path, debugDescription: "Expected to decode \(expected), found \(value.typeName).")
        )
    }

    /// The error for a value of the right type that can't be had.
    func corrupted(_ description: String, _ key: (any CodingKey)?) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath(to: key), debugDescription: description))
    }
}

extension Value {
    /// The type with its article, for messages.
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
