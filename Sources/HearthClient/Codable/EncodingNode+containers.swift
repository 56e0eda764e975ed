internal import DocumentModel
internal import StrictJSON

extension EncodingNode: Swift.Encoder {
    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        becomeMap()
        return KeyedEncodingContainer(KeyedValues(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        becomeArray()
        return UnkeyedValues(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        self
    }
}

/// The members of a map, as an encoded type sees them.
private struct KeyedValues<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodingNode

    var codingPath: [any CodingKey] { node.codingPath }

    private func append(_ value: Value, _ key: Key) {
        node.append(value, named: node.name(for: key))
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let name = node.name(for: key)
        if let value = try node.value(of: value, at: key, named: name) { node.append(value, named: name) }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        node.nestedMember(at: key, named: node.name(for: key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        node.nestedMember(at: key, named: node.name(for: key)).unkeyedContainer()
    }

    func superEncoder() -> any Swift.Encoder {
        node.nestedMember(at: PlaceKey.super, named: node.name(for: PlaceKey.super))
    }

    func superEncoder(forKey key: Key) -> any Swift.Encoder {
        node.nestedMember(at: key, named: node.name(for: key))
    }

    func encodeNil(forKey key: Key) { append(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { append(.boolean(value), key) }
    func encode(_ value: String, forKey key: Key) { append(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) throws { append(try node.value(value, at: key), key) }
    func encode(_ value: Float, forKey key: Key) throws { append(try node.value(Double(value), at: key), key) }
    func encode(_ value: Int, forKey key: Key) { append(.integer(Int64(value)), key) }
    func encode(_ value: Int8, forKey key: Key) { append(.integer(Int64(value)), key) }
    func encode(_ value: Int16, forKey key: Key) { append(.integer(Int64(value)), key) }
    func encode(_ value: Int32, forKey key: Key) { append(.integer(Int64(value)), key) }
    func encode(_ value: Int64, forKey key: Key) { append(.integer(Int64(value)), key) }
    func encode(_ value: UInt8, forKey key: Key) { append(.integer(Int64(value)), key) }
    func encode(_ value: UInt16, forKey key: Key) { append(.integer(Int64(value)), key) }
    func encode(_ value: UInt32, forKey key: Key) { append(.integer(Int64(value)), key) }
    func encode(_ value: UInt, forKey key: Key) throws { append(try node.value(value, at: key), key) }
    func encode(_ value: UInt64, forKey key: Key) throws { append(try node.value(value, at: key), key) }
}
