internal import DocumentModel
internal import Foundation
internal import UTF8Text

/// Converts user data, dictionaries of Swift values, to document values.
struct UserDataReader {
    /// True if a ``FieldValue`` sentinel is allowed as the value of a field.
    let allowsSentinels: Bool
    /// The sentinels found so far, with their field paths, in no particular order.
    private(set) var sentinels: [(path: FieldPath, value: FieldValue)] = []
    /// The distinct databases of the references found so far.
    private(set) var databases: [Firestore] = []
    private var names: [UTF8Key] = []
    private var arrayDepth = 0

    init(allowsSentinels: Bool) {
        self.allowsSentinels = allowsSentinels
    }

    mutating func map(_ dictionary: [String: Any]) throws(StatusError) -> MapValue {
        var members: [(key: UTF8Key, value: Value)] = []
        members.reserveCapacity(dictionary.count)
        for (name, value) in dictionary {
            let name = UTF8Key(name)
            names.append(name)
            if let sentinel = value as? FieldValue {
                try recordSentinel(sentinel)
            } else {
                members.append((name, try self.value(value)))
            }
            names.removeLast()
        }
        return MapValue(members)
    }

    /// Converts the value of a field; returns `nil` for a sentinel.
    mutating func value(_ value: Any, at path: FieldPath) throws(StatusError) -> Value? {
        names = path.segments
        defer { names = [] }
        if let sentinel = value as? FieldValue {
            try recordSentinel(sentinel)
            return nil
        }
        return try self.value(value)
    }

    mutating func values(_ elements: [Any]) throws(StatusError) -> [Value] {
        arrayDepth += 1
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try value(element)) }
        arrayDepth -= 1
        return values
    }

    mutating func value(_ value: Any) throws(StatusError) -> Value {
        // The most frequent types by identity: each cast of the others takes a fraction of a microsecond.
        let type = type(of: value)
        if type == String.self, let value = value as? String { return .string(value) }
        if type == NSNumber.self, let value = value as? NSNumber { return try Value(value) }
        if type == [String: Any].self, let value = value as? [String: Any] { return .map(try map(value)) }
        if type == [Any].self, let value = value as? [Any] { return .array(try values(value)) }
        if type == Int.self, let value = value as? Int { return .integer(Int64(value)) }
        if type == Double.self, let value = value as? Double { return .double(value) }
        if type == Bool.self, let value = value as? Bool { return .boolean(value) }
        return try otherValue(value)
    }

    private mutating func otherValue(_ value: Any) throws(StatusError) -> Value {
        if type(of: value) is any OptionalValue.Type {
            // Before any cast, which would look into the optional: one to Bool would succeed for an NSNumber of 1.
            guard let wrapped = Mirror(reflecting: value).children.first else { return .null }
            return try self.value(wrapped.value)
        }
        if type(of: value) is NSNumber.Type, let number = value as? NSNumber { return try Value(number) }
        switch value {
        case let value as String: return .string(value)
        case let value as Bool: return .boolean(value)
        case let value as any FixedWidthInteger: return try integer(value)
        case let value as Double: return .double(value)
        case let value as Float: return .double(Double(value))
        case let value as CGFloat: return .double(Double(value))
        case let value as Decimal: return .double(value.nearestDouble)
        case let value as Date: return .timestamp(try Timestamp(nearest: value))
        case let value as Timestamp: return .timestamp(value)
        case let value as GeoPoint: return .geoPoint(value)
        case let value as Data: return .bytes(Array(value))
        case let value as VectorValue: return .vector(value.array)
        case let value as DocumentReference:
            databases.formUnion([value.firestore])
            return .reference(value.documentPath)
        case is NSNull: return .null
        case let value as [String: Any]: return .map(try map(value))
        case let value as [Any]: return .array(try values(value))
        case is FieldValue: throw error("A FieldValue can only be the value of a field")
        default: throw error("Unsupported type: \(type(of: value)). Use setData(from:) for Encodable types")
        }
    }

    private func integer(_ value: some FixedWidthInteger) throws(StatusError) -> Value {
        guard let integer = Int64(exactly: value) else {
            throw error("Expected a signed 64-bit integer, found \(value)")
        }
        return .integer(integer)
    }

    private mutating func recordSentinel(_ sentinel: FieldValue) throws(StatusError) {
        guard allowsSentinels, arrayDepth == 0 else {
            throw error("A FieldValue can only be the value of a field, and is not allowed here")
        }
        sentinels.append((try FieldPath(segments: names), sentinel))
        databases.formUnion(sentinel.databases)
    }

    private func error(_ message: String) -> StatusError {
        let location = names.isEmpty ? "" : " (found in field \(Excerpt(names.map(\.string).joined(separator: "."))))"
        return StatusError(.invalidArgument, "\(message)\(location).")
    }
}

/// A type of optionals.
private protocol OptionalValue {}

extension Optional: OptionalValue {}

extension Value {
    fileprivate init(_ number: NSNumber) throws(StatusError) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "c") where number === NSNumber(value: true) || number === NSNumber(value: false), UInt8(ascii: "B"):
            self = .boolean(number.boolValue)
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            self = .double(number.doubleValue)
        case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max):
            throw StatusError(.invalidArgument, "Expected a signed 64-bit integer, found \(number).")
        default:
            self = .integer(number.int64Value)
        }
    }
}
