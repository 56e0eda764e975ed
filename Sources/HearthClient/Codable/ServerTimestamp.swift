public import DocumentModel
public import Foundation

/// A property that the server sets to the time of the write when it is nil.
///
/// ```swift
/// struct Post: Codable {
///     var text: String
///     @ServerTimestamp var written: Date?
/// }
/// ```
///
/// In a document that is decoded the field has to be there; null becomes nil.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampWrappable & Codable> {
    /// The time; nil to have the server set it.
    public var wrappedValue: Value?

    /// Makes a property with a time, or none.
    public init(wrappedValue value: Value?) {
        wrappedValue = value
    }
}

/// What a `@ServerTimestamp` can be: a `Date` or a ``Timestamp``.
public protocol ServerTimestampWrappable {
    /// Makes a value of a time of the server.
    static func wrap(_ timestamp: Timestamp) throws -> Self
    /// The time that a value is.
    static func unwrap(_ value: Self) throws -> Timestamp
}

extension Date: ServerTimestampWrappable {
    /// The date of a timestamp.
    public static func wrap(_ timestamp: Timestamp) throws -> Date {
        timestamp.dateValue()
    }

    /// The timestamp of a date, to the nearest microsecond.
    public static func unwrap(_ value: Date) throws -> Timestamp {
        do {
            return try Timestamp(nearest: value)
        } catch {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: error.message))
        }
    }
}

extension Timestamp: ServerTimestampWrappable {
    /// The timestamp itself.
    public static func wrap(_ timestamp: Timestamp) throws -> Timestamp {
        timestamp
    }

    /// The timestamp itself.
    public static func unwrap(_ value: Timestamp) throws -> Timestamp {
        value
    }
}

extension ServerTimestamp: Codable {
    /// Decodes a timestamp, or null.
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try Value.wrap(container.decode(Timestamp.self))
    }

    /// Encodes the timestamp, or what the server replaces by its own.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(Value.unwrap(wrappedValue))
        } else {
            try container.encode(FieldValue.serverTimestamp())
        }
    }
}

extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}
extension ServerTimestamp: Sendable where Value: Sendable {}
