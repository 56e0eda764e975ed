public import DocumentModel
public import Foundation

/// A property wrapper for a timestamp that the server sets to the commit time, truncated to milliseconds, if the value is `nil`.
///
/// ```swift
/// struct Post: Codable {
///     var text: String
///     @ServerTimestamp var written: Date?
/// }
/// ```
///
/// When a document is decoded, the field must exist; null is decoded as `nil`.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampWrappable & Codable> {
    /// The time; `nil` to have the server set it.
    public var wrappedValue: Value?

    /// Creates a property with a time, or without one.
    public init(wrappedValue value: Value?) {
        wrappedValue = value
    }
}

/// A type that a `@ServerTimestamp` property can have: `Date` or ``Timestamp``.
public protocol ServerTimestampWrappable {
    /// Returns the value for a timestamp.
    static func wrap(_ timestamp: Timestamp) throws -> Self
    /// Returns the timestamp of a value.
    static func unwrap(_ value: Self) throws -> Timestamp
}

extension Date: ServerTimestampWrappable {
    /// Returns the date of a timestamp.
    public static func wrap(_ timestamp: Timestamp) throws -> Date {
        timestamp.dateValue()
    }

    /// Returns the timestamp of a date, rounded to the nearest microsecond.
    public static func unwrap(_ value: Date) throws -> Timestamp {
        do {
            return try Timestamp(nearest: value)
        } catch {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: error.message))
        }
    }
}

extension Timestamp: ServerTimestampWrappable {
    /// Returns the timestamp.
    public static func wrap(_ timestamp: Timestamp) throws -> Timestamp {
        timestamp
    }

    /// Returns the timestamp.
    public static func unwrap(_ value: Timestamp) throws -> Timestamp {
        value
    }
}

extension ServerTimestamp: Codable {
    /// Decodes a timestamp or null.
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try Value.wrap(container.decode(Timestamp.self))
    }

    /// Encodes the timestamp, or a server timestamp sentinel.
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
