internal import DocumentModel
internal import UTF8Text

/// The keyed decoding container of a map.
struct MapDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: DecodingNode
    let map: MapValue

    var codingPath: [any CodingKey] { node.codingPath }

    var allKeys: [Key] { map.keys.compactMap { Key(stringValue: $0.string) } }

    func contains(_ key: Key) -> Bool {
        value(key) != nil
    }

    private func value(_ key: Key) -> Value? {
        map[UTF8Key(key.stringValue)]
    }

    private func required(_ key: Key) throws -> Value {
        guard let value = value(key) else { throw node.missing(key, in: map) }
        return value
    }

    /// Returns the value of a field; `nil` if the field is null or missing.
    private func nonNull(_ key: Key) -> Value? {
        guard let value = value(key) else { return nil }
        if case .null = value { return nil }
        return value
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        if case .null = try required(key) { true } else { false }
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let value = value(key) else {
            // The document ID is not a field.
            guard T.self is any DocumentIDProtocol.Type else { throw node.missing(key, in: map) }
            return try node.decode(type, from: .null, at: key)
        }
        return try node.decode(type, from: value, at: key)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let value = nonNull(key) else { return nil }
        return try node.decode(type, from: value, at: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try DecodingNode(required(key), in: node, at: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try DecodingNode(required(key), in: node, at: key).unkeyedContainer()
    }

    func superDecoder() -> any Swift.Decoder {
        let key = AnyCodingKey.super
        return DecodingNode(map[UTF8Key(key.stringValue)] ?? .null, in: node, at: key)
    }

    func superDecoder(forKey key: Key) -> any Swift.Decoder {
        DecodingNode(value(key) ?? .null, in: node, at: key)
    }
}

extension MapDecodingContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try node.boolean(required(key), key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try node.string(required(key), key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try node.double(required(key), key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try node.float(required(key), key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try node.integer(required(key), key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try node.integer(required(key), key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try node.integer(required(key), key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try node.integer(required(key), key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try node.integer(required(key), key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try node.integer(required(key), key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try node.integer(required(key), key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try node.integer(required(key), key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try node.integer(required(key), key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try node.integer(required(key), key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try nonNull(key).map { try node.boolean($0, key) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try nonNull(key).map { try node.string($0, key) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try nonNull(key).map { try node.double($0, key) }
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try nonNull(key).map { try node.float($0, key) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try nonNull(key).map { try node.integer($0, key) } }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try nonNull(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try nonNull(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try nonNull(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try nonNull(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try nonNull(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try nonNull(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try nonNull(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try nonNull(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try nonNull(key).map { try node.integer($0, key) }
    }
}
