internal import DocumentModel
internal import Foundation

extension EncodingNode {
    /// Encodes a value of a native type; returns `nil` for all other types.
    ///
    /// Types are compared by identity, which is cheap and guarantees that the casts succeed.
    func nativeValue<T: Encodable>(of value: T, at key: (any CodingKey)?) throws -> Value? {
        switch ObjectIdentifier(T.self) {
        case NativeType.string: .string(unsafeBitCast(value, to: String.self))
        case NativeType.int: .integer(Int64(unsafeBitCast(value, to: Int.self)))
        case NativeType.double: try self.value(unsafeBitCast(value, to: Double.self), at: key)
        case NativeType.boolean: .boolean(unsafeBitCast(value, to: Bool.self))
        case NativeType.date: try dateValue(unsafeBitCast(value, to: Date.self), at: key)
        case NativeType.timestamp: .timestamp(unsafeBitCast(value, to: Timestamp.self))
        case NativeType.geoPoint: .geoPoint(unsafeBitCast(value, to: GeoPoint.self))
        case NativeType.url: (value as? URL).map { .string($0.absoluteString) }
        case NativeType.data: try (value as? Data).flatMap { try dataValue($0) }
        case NativeType.reference: (value as? DocumentReference).map { session.value($0) }
        case NativeType.vector: .vector(unsafeBitCast(value, to: VectorValue.self).array)
        case NativeType.decimal: try self.value(unsafeBitCast(value, to: Decimal.self).nearestDouble, at: key)
        default: nil
        }
    }

    /// Encodes a value into this node with a custom strategy or its own `Encodable` implementation.
    func encodeViaCodable<T: Encodable>(_ value: T) throws {
        switch ObjectIdentifier(T.self) {
        case NativeType.date:
            if case .custom(let encode) = session.strategies.date, let date = value as? Date { return try encode(date, self) }
        case NativeType.data:
            if case .custom(let encode) = session.strategies.data, let data = value as? Data { return try encode(data, self) }
        default: break
        }
        try value.encode(to: self)
    }

    func value(_ double: Double, at key: (any CodingKey)?) throws -> Value {
        if double.isFinite { return .double(double) }
        switch session.strategies.float {
        case .throw:
            throw error(
                double,
                at: key,
                "Unable to encode \(double) directly. Use FirebaseDataEncoder.NonConformingFloatEncodingStrategy.convertToString."
            )
        case .convertToString(let positiveInfinity, let negativeInfinity, let nan):
            return .string(double.isNaN ? nan : double > 0 ? positiveInfinity : negativeInfinity)
        }
    }

    func value(_ integer: some FixedWidthInteger, at key: (any CodingKey)?) throws -> Value {
        guard let integer = Int64(exactly: integer) else {
            throw error(integer, at: key, "Expected a signed 64-bit integer, found \(integer).")
        }
        return .integer(integer)
    }

    /// Returns `nil` if the strategy is `.deferredToDate` or `.custom`.
    private func dateValue(_ date: Date, at key: (any CodingKey)?) throws -> Value? {
        switch session.strategies.date {
        case .timestamp:
            do {
                return .timestamp(try Timestamp(nearest: date))
            } catch {
                throw self.error(date, at: key, error.message)
            }
        case .deferredToDate, .custom: return nil
        case .secondsSince1970: return .double(date.timeIntervalSince1970)
        case .millisecondsSince1970: return .double(date.timeIntervalSince1970 * 1_000)
        case .iso8601: return .string(date.formatted(.iso8601))
        case .formatted(let formatter): return .string(formatter.string(from: date))
        }
    }

    /// Returns `nil` if the strategy is `.deferredToData` or `.custom`.
    private func dataValue(_ data: Data) throws -> Value? {
        switch session.strategies.data {
        case .blob: .bytes(Array(data))
        case .base64: .string(data.base64EncodedString())
        case .deferredToData, .custom: nil
        }
    }
}

extension Decimal {
    /// The double that is nearest to this number. That of `NSDecimalNumber` often isn't on Linux: 19.99 becomes 19.990000000000002.
    var nearestDouble: Double {
        // The description has all digits, in the form that Double reads.
        Double(description) ?? .nan
    }
}

/// The types with a native representation in documents.
///
/// The properties are computed, which is cheaper than the initialization check of a static constant.
enum NativeType {
    static var string: ObjectIdentifier { ObjectIdentifier(String.self) }
    static var int: ObjectIdentifier { ObjectIdentifier(Int.self) }
    static var double: ObjectIdentifier { ObjectIdentifier(Double.self) }
    static var boolean: ObjectIdentifier { ObjectIdentifier(Bool.self) }
    static var date: ObjectIdentifier { ObjectIdentifier(Date.self) }
    static var timestamp: ObjectIdentifier { ObjectIdentifier(Timestamp.self) }
    static var geoPoint: ObjectIdentifier { ObjectIdentifier(GeoPoint.self) }
    static var url: ObjectIdentifier { ObjectIdentifier(URL.self) }
    static var data: ObjectIdentifier { ObjectIdentifier(Data.self) }
    static var reference: ObjectIdentifier { ObjectIdentifier(DocumentReference.self) }
    static var vector: ObjectIdentifier { ObjectIdentifier(VectorValue.self) }
    static var sentinel: ObjectIdentifier { ObjectIdentifier(FieldValue.self) }
    static var decimal: ObjectIdentifier { ObjectIdentifier(Decimal.self) }
}
