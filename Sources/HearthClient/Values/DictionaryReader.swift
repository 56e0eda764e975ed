internal import DocumentModel
internal import Foundation
internal import StrictJSON

/// Makes values of what users put into dictionaries.
struct DictionaryReader {
    /// Whether a ``FieldValue`` may stand for a value.
    let permitsSentinels: Bool
    /// The fields that hold one, in no order.
    private(set) var sentinels: [(path: FieldPath, value: FieldValue)] = []
    /// What the references belong to, each once.
    private(set) var origins: [Firestore] = []
    private var names: [UTF8Key] = []
    private var arrayDepth = 0

    init(permitsSentinels: Bool) {
        self.permitsSentinels = permitsSentinels
    }

    mutating func map(_ dictionary: [String: Any]) throws(StatusError) -> MapValue {
        var members: [(key: UTF8Key, value: Value)] = []
        members.reserveCapacity(dictionary.count)
        for (name, value) in dictionary {
            let name = UTF8Key(name)
            names.append(name)
            if let sentinel = value as? FieldValue {
                try note(sentinel)
            } else {
                members.append((name, try self.value(value)))
            }
            names.removeLast()
        }
        return MapValue(members)
    }

    /// The value of a field; nil where a ``FieldValue`` stands for it.
    mutating func value(_ value: Any, at path: FieldPath) throws(StatusError) -> Value? {
        names = path.segments
        defer { names = [] }
        if let sentinel = value as? FieldValue {
            try note(sentinel)
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
        // What a reference-counted number of Foundation's says of itself; a cast would take 1 for true.
        if type(of: value) is NSNumber.Type, let number = value as? NSNumber { return try Value(number) }
        switch value {
        case let value as String: return .string(value)
        case let value as Bool: return .boolean(value)
        case let value as any FixedWidthInteger: return try integer(value)
        case let value as Double: return .double(value)
        case let value as Float: return .double(Double(value))
        case let value as Date: return .timestamp(try Timestamp(nearest: value))
        case let value as Timestamp: return .timestamp(value)
        case let value as GeoPoint: return .geoPoint(value)
        case let value as Data: return .bytes(Array(value))
        case let value as VectorValue: return .vector(value.array)
        case let value as DocumentReference:
            origins.add([value.firestore])
            return .reference(value.documentPath)
        case is NSNull: return .null
        case let value as [String: Any]: return .map(try map(value))
        case let value as [Any]: return .array(try values(value))
        case is FieldValue: throw fault("A FieldValue can't stand in an array or by itself; it is the value of a field")
        default: break
        }
        if Mirror(reflecting: value).displayStyle == .optional { return .null }
        throw fault("Unsupported type: \(type(of: value)). Use setData(from:) for types of your own")
    }

    private func integer(_ value: some FixedWidthInteger) throws(StatusError) -> Value {
        guard let integer = Int64(exactly: value) else {
            throw fault("Expected an integer of 64 bits with a sign, found \(value)")
        }
        return .integer(integer)
    }

    private mutating func note(_ sentinel: FieldValue) throws(StatusError) {
        guard permitsSentinels, arrayDepth == 0 else {
            throw fault("A FieldValue can't stand here, and never in an array")
        }
        sentinels.append((try FieldPath(segments: names), sentinel))
        origins.add(sentinel.origins)
    }

    private func fault(_ sentence: String) -> StatusError {
        let place = names.isEmpty ? "" : " (found in field \(Excerpt(names.map(\.string).joined(separator: "."))))"
        return StatusError(.invalidArgument, "\(sentence)\(place).")
    }
}

extension Value {
    fileprivate init(_ number: NSNumber) throws(StatusError) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "c") where number === NSNumber(value: true) || number === NSNumber(value: false), UInt8(ascii: "B"):
            self = .boolean(number.boolValue)
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            self = .double(number.doubleValue)
        case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max):
            throw StatusError(.invalidArgument, "Expected an integer of 64 bits with a sign, found \(number).")
        default:
            self = .integer(number.int64Value)
        }
    }
}
