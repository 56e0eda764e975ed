internal import DocumentModel

/// The elements of an array, as an encoded type sees them.
struct UnkeyedValues: UnkeyedEncodingContainer {
    let node: EncodingNode

    var codingPath: [any CodingKey] { node.codingPath }

    var count: Int { node.elementCount }

    private var key: PlaceKey { PlaceKey.index(node.elementCount) }

    func encode<T: Encodable>(_ value: T) throws {
        // Nothing is left out: what would be is refused in arrays.
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
