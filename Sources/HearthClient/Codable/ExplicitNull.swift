/// A property that is written as null when it is nil, instead of being left out.
///
/// In a document that is decoded the field has to be there; null becomes nil.
@propertyWrapper
public struct ExplicitNull<Value> {
    /// The value; nil is written as null.
    public var wrappedValue: Value?

    /// Makes a property with a value, or none.
    public init(wrappedValue value: Value?) {
        wrappedValue = value
    }
}

extension ExplicitNull: Decodable where Value: Decodable {
    /// Decodes a value, or null.
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }
}

extension ExplicitNull: Encodable where Value: Encodable {
    /// Encodes the value, or null.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension ExplicitNull: Equatable where Value: Equatable {}
extension ExplicitNull: Hashable where Value: Hashable {}
extension ExplicitNull: Sendable where Value: Sendable {}
