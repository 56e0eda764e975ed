internal import DocumentModel

extension EncodingNode: SingleValueEncodingContainer {
    func encode<T: Encodable>(_ value: T) throws {
        if ObjectIdentifier(T.self) == Known.sentinel, let sentinel = value as? FieldValue {
            try note(sentinel)
            become(nil)
        } else if let known = try knownValue(of: value, at: nil) {
            become(known)
        } else if session.strategies.convertsKeys, T.self is any StringKeyed.Type {
            // As a node of its own, whose keys stay as they are.
            become(try self.value(of: value, at: nil, named: nil))
        } else {
            try encodeItself(value)
        }
    }

    func encodeNil() { become(.null) }
    func encode(_ value: Bool) { become(.boolean(value)) }
    func encode(_ value: String) { become(.string(value)) }
    func encode(_ value: Double) throws { become(try self.value(value, at: nil)) }
    func encode(_ value: Float) throws { become(try self.value(Double(value), at: nil)) }
    func encode(_ value: Int) { become(.integer(Int64(value))) }
    func encode(_ value: Int8) { become(.integer(Int64(value))) }
    func encode(_ value: Int16) { become(.integer(Int64(value))) }
    func encode(_ value: Int32) { become(.integer(Int64(value))) }
    func encode(_ value: Int64) { become(.integer(Int64(value))) }
    func encode(_ value: UInt8) { become(.integer(Int64(value))) }
    func encode(_ value: UInt16) { become(.integer(Int64(value))) }
    func encode(_ value: UInt32) { become(.integer(Int64(value))) }
    func encode(_ value: UInt) throws { become(try self.value(value, at: nil)) }
    func encode(_ value: UInt64) throws { become(try self.value(value, at: nil)) }
}
