internal import DocumentModel
internal import Foundation
internal import StrictJSON

extension EncodingNode {
    /// What a value of a type that documents know is in a document; nil for all other types.
    ///
    /// The types are told apart by their identity, which costs next to nothing; the casts can't fail then.
    func knownValue<T: Encodable>(of value: T, at key: (any CodingKey)?) throws -> Value? {
        switch ObjectIdentifier(T.self) {
        case Known.string: .string(unsafeBitCast(value, to: String.self))
        case Known.int: .integer(Int64(unsafeBitCast(value, to: Int.self)))
        case Known.double: try self.value(unsafeBitCast(value, to: Double.self), at: key)
        case Known.boolean: .boolean(unsafeBitCast(value, to: Bool.self))
        case Known.date: try dateValue(unsafeBitCast(value, to: Date.self), at: key)
        case Known.timestamp: .timestamp(unsafeBitCast(value, to: Timestamp.self))
        case Known.geoPoint: .geoPoint(unsafeBitCast(value, to: GeoPoint.self))
        case Known.url: (value as? URL).map { .string($0.absoluteString) }
        case Known.data: try (value as? Data).flatMap { try dataValue($0) }
        case Known.reference: (value as? DocumentReference).map { session.value($0) }
        case Known.vector: .vector(unsafeBitCast(value, to: VectorValue.self).array)
        case Known.decimal: .double(NSDecimalNumber(decimal: unsafeBitCast(value, to: Decimal.self)).doubleValue)
        default: nil
        }
    }

    /// Encodes the value into this node.
    func encodeItself<T: Encodable>(_ value: T) throws {
        switch ObjectIdentifier(T.self) {
        case Known.date:
            if case .custom(let encode) = session.strategies.date, let date = value as? Date { return try encode(date, self) }
        case Known.data:
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
            throw error(integer, at: key, "Expected an integer of 64 bits with a sign, found \(integer).")
        }
        return .integer(integer)
    }

    /// Nil when the date encodes itself, or a closure does.
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

    /// Nil when the data encode themselves, or a closure does.
    private func dataValue(_ data: Data) throws -> Value? {
        switch session.strategies.data {
        case .blob: .bytes(Array(data))
        case .base64: .string(data.base64EncodedString())
        case .deferredToData, .custom: nil
        }
    }
}

/// The types that documents know. Computed, since that is cheaper than a look whether a constant has its value yet.
enum Known {
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
