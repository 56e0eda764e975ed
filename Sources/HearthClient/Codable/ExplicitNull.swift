/// A property wrapper that encodes `nil` as null instead of omitting the field.
///
/// When a document is decoded, the field must exist; null is decoded as `nil`.
@propertyWrapper
public struct ExplicitNull<Value> {
    /// The value; `nil` is encoded as null.
    public var wrappedValue: Value?

    /// Creates a property with a value, or without one.
    public init(wrappedValue value: Value?) {
        wrappedValue = value
    }
}

extension ExplicitNull: Decodable where Value: Decodable {
    /// Decodes a value or null.
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }
}

extension ExplicitNull: Encodable where Value: Encodable {
    /// Encodes the value or null.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension ExplicitNull: Equatable where Value: Equatable {}
extension ExplicitNull: Hashable where Value: Hashable {}
extension ExplicitNull: Sendable where Value: Sendable {}
