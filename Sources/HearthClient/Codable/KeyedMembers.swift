internal import DocumentModel
internal import StrictJSON

/// The members of a map, as a decoded type sees them.
struct KeyedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
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

    /// Nil for a field that is null, or not there.
    private func present(_ key: Key) -> Value? {
        guard let value = value(key) else { return nil }
        if case .null = value { return nil }
        return value
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        if case .null = try required(key) { true } else { false }
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let value = value(key) else {
            // The document's id is not among its fields.
            guard T.self is any DocumentIDProtocol.Type else { throw node.missing(key, in: map) }
            return try node.decode(type, from: .null, at: key)
        }
        return try node.decode(type, from: value, at: key)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let value = present(key) else { return nil }
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
        let key = PlaceKey.super
        return DecodingNode(map[UTF8Key(key.stringValue)] ?? .null, in: node, at: key)
    }

    func superDecoder(forKey key: Key) -> any Swift.Decoder {
        DecodingNode(value(key) ?? .null, in: node, at: key)
    }
}

extension KeyedMembers {
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
        try present(key).map { try node.boolean($0, key) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try node.string($0, key) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try node.double($0, key) }
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try present(key).map { try node.float($0, key) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try present(key).map { try node.integer($0, key) } }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try present(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try present(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try present(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try present(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try present(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try present(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try present(key).map { try node.integer($0, key) }
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try present(key).map { try node.integer($0, key) }
    }
}
