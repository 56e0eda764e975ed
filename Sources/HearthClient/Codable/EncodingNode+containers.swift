internal import DocumentModel

extension EncodingNode: Swift.Encoder {
    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        beginMap()
        return KeyedEncodingContainer(MapEncodingContainer(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        beginArray()
        return ArrayEncodingContainer(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        self
    }
}

/// The keyed encoding container of a map.
private struct MapEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
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
        node.nestedMember(at: AnyCodingKey.super, named: node.name(for: AnyCodingKey.super))
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

/// The unkeyed encoding container of an array.
struct ArrayEncodingContainer: UnkeyedEncodingContainer {
    let node: EncodingNode

    var codingPath: [any CodingKey] { node.codingPath }

    var count: Int { node.elementCount }

    private var key: AnyCodingKey { AnyCodingKey.index(node.elementCount) }

    func encode<T: Encodable>(_ value: T) throws {
        // Never `nil`: values that would be omitted throw an error in arrays.
        node.append(try node.value(of: value, at: key, named: nil) ?? .null)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        node.nestedElement().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        node.nestedElement().unkeyedContainer()
    }

    func superEncoder() -> any Swift.Encoder {
        node.nestedElement()
    }

    func encodeNil() { node.append(.null) }
    func encode(_ value: Bool) { node.append(.boolean(value)) }
    func encode(_ value: String) { node.append(.string(value)) }
    func encode(_ value: Double) throws { node.append(try node.value(value, at: key)) }
    func encode(_ value: Float) throws { node.append(try node.value(Double(value), at: key)) }
    func encode(_ value: Int) { node.append(.integer(Int64(value))) }
    func encode(_ value: Int8) { node.append(.integer(Int64(value))) }
    func encode(_ value: Int16) { node.append(.integer(Int64(value))) }
    func encode(_ value: Int32) { node.append(.integer(Int64(value))) }
    func encode(_ value: Int64) { node.append(.integer(Int64(value))) }
    func encode(_ value: UInt8) { node.append(.integer(Int64(value))) }
    func encode(_ value: UInt16) { node.append(.integer(Int64(value))) }
    func encode(_ value: UInt32) { node.append(.integer(Int64(value))) }
    func encode(_ value: UInt) throws { node.append(try node.value(value, at: key)) }
    func encode(_ value: UInt64) throws { node.append(try node.value(value, at: key)) }
}

extension EncodingNode: SingleValueEncodingContainer {
    func encode<T: Encodable>(_ value: T) throws {
        if ObjectIdentifier(T.self) == NativeType.sentinel, let sentinel = value as? FieldValue {
            try recordSentinel(sentinel)
            setContent(nil)
        } else if let known = try nativeValue(of: value, at: nil) {
            setContent(known)
        } else if session.strategies.convertsKeys, T.self is any StringKeyedDictionary.Type {
            // In a separate node, exempt from the key strategy.
            setContent(try self.value(of: value, at: nil, named: nil))
        } else {
            try encodeViaCodable(value)
        }
    }

    func encodeNil() { setContent(.null) }
    func encode(_ value: Bool) { setContent(.boolean(value)) }
    func encode(_ value: String) { setContent(.string(value)) }
    func encode(_ value: Double) throws { setContent(try self.value(value, at: nil)) }
    func encode(_ value: Float) throws { setContent(try self.value(Double(value), at: nil)) }
    func encode(_ value: Int) { setContent(.integer(Int64(value))) }
    func encode(_ value: Int8) { setContent(.integer(Int64(value))) }
    func encode(_ value: Int16) { setContent(.integer(Int64(value))) }
    func encode(_ value: Int32) { setContent(.integer(Int64(value))) }
    func encode(_ value: Int64) { setContent(.integer(Int64(value))) }
    func encode(_ value: UInt8) { setContent(.integer(Int64(value))) }
    func encode(_ value: UInt16) { setContent(.integer(Int64(value))) }
    func encode(_ value: UInt32) { setContent(.integer(Int64(value))) }
    func encode(_ value: UInt) throws { setContent(try self.value(value, at: nil)) }
    func encode(_ value: UInt64) throws { setContent(try self.value(value, at: nil)) }
}
