internal import DocumentModel
internal import Foundation
internal import UTF8Text

extension DecodingNode {
    /// Decodes a native type; returns `nil` for all other types, and if the type's own `Decodable` implementation must be used.
    ///
    /// Types are compared by identity, which is cheap and guarantees that the casts succeed.
    func nativeValue<T: Decodable>(_ type: T.Type, _ value: Value, _ key: (any CodingKey)?) throws -> T? {
        switch ObjectIdentifier(T.self) {
        case NativeType.string: return unsafeBitCast(try string(value, key), to: T.self)
        case NativeType.int: return unsafeBitCast(try integer(value, key) as Int, to: T.self)
        case NativeType.double: return unsafeBitCast(try double(value, key), to: T.self)
        case NativeType.boolean: return unsafeBitCast(try boolean(value, key), to: T.self)
        case NativeType.date: return try date(value, key).map { unsafeBitCast($0, to: T.self) }
        case NativeType.timestamp:
            guard case .timestamp(let timestamp) = value else { return nil }
            return unsafeBitCast(timestamp, to: T.self)
        case NativeType.geoPoint:
            guard case .geoPoint(let point) = value else { return nil }
            return unsafeBitCast(point, to: T.self)
        case NativeType.url: return try url(value, key) as? T
        case NativeType.data: return try data(value, key) as? T
        case NativeType.reference: return unsafeBitCast(try reference(value, key), to: T.self)
        case NativeType.vector:
            guard case .vector(let vector) = value else { return nil }
            return unsafeBitCast(VectorValue(vector), to: T.self)
        case NativeType.decimal: return unsafeBitCast(try decimal(value, key), to: T.self)
        default: return nil
        }
    }

    /// Decodes this value with a custom strategy or the type's own `Decodable` implementation.
    func decodeViaCodable<T: Decodable>(_ type: T.Type) throws -> T {
        switch ObjectIdentifier(T.self) {
        case NativeType.date:
            if case .custom(let decode) = session.strategies.date, let date = try decode(self) as? T { return date }
        case NativeType.data:
            if case .custom(let decode) = session.strategies.data, let data = try decode(self) as? T { return data }
        default: break
        }
        // Of the type that was passed, which may be a subclass.
        return try type.init(from: self)
    }

    /// Returns `nil` if the strategy is `.deferredToDate` or `.custom`.
    private func date(_ value: Value, _ key: (any CodingKey)?) throws -> Date? {
        switch session.strategies.date {
        case .timestamp:
            if case .timestamp(let timestamp) = value { return timestamp.dateValue() }
            // Other encoders encode a Timestamp as a map.
            guard case .map = value else { throw mismatch(Date.self, value, key) }
            let node = key.map { DecodingNode(value, in: self, at: $0) } ?? self
            return try Timestamp(from: node).dateValue()
        case .deferredToDate, .custom: return nil
        case .secondsSince1970: return Date(timeIntervalSince1970: try double(value, key))
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try double(value, key) / 1_000)
        case .iso8601:
            let text = try string(value, key)
            guard let date = try? Date(text, strategy: .iso8601) else {
                throw corrupted("Expected a date in ISO 8601 format, found \(Excerpt(text)).", key)
            }
            return date
        case .formatted(let formatter):
            let text = try string(value, key)
            guard let date = formatter.date(from: text) else {
                throw corrupted("Expected a date in the format of the formatter, found \(Excerpt(text)).", key)
            }
            return date
        }
    }

    /// Returns `nil` if the strategy is `.deferredToData` or `.custom`.
    private func data(_ value: Value, _ key: (any CodingKey)?) throws -> Data? {
        switch (session.strategies.data, value) {
        case (.deferredToData, _), (.custom, _): return nil
        case (.blob, .bytes(let bytes)): return Data(bytes)
        case (.blob, .string(let text)), (.base64, .string(let text)):
            guard let data = Data(base64Encoded: text) else { throw corrupted("Expected base64, found \(Excerpt(text)).", key) }
            return data
        default: throw mismatch(Data.self, value, key)
        }
    }

    private func url(_ value: Value, _ key: (any CodingKey)?) throws -> URL {
        let text = try string(value, key)
        guard let url = URL(string: text) else { throw corrupted("Invalid URL string: \(Excerpt(text)).", key) }
        return url
    }

    private func reference(_ value: Value, _ key: (any CodingKey)?) throws -> DocumentReference {
        guard case .reference(let path) = value else { throw mismatch(DocumentReference.self, value, key) }
        return DocumentReference(path, in: session.firestore ?? .firestore())
    }
}
