internal import UTF8Text

/// A field value of one of Firestore's types.
///
/// `==` and hashing are bitwise: same type and same bytes. `3` and `3.0` differ, as do `0.0` and `-0.0` and the two
/// encodings of "é", while NaN equals NaN. Filters, sorting and array transforms use ``compared(to:)`` and
/// ``isEqual(to:)`` instead.
public enum Value: Sendable {
    /// The null value.
    case null
    /// A boolean.
    case boolean(Bool)
    /// A 64-bit signed integer.
    case integer(Int64)
    /// A double, including NaN and the infinities.
    case double(Double)
    /// A time with microsecond precision.
    case timestamp(Timestamp)
    /// A string: its UTF-8 bytes, never normalized.
    case string(String)
    /// A byte sequence.
    case bytes([UInt8])
    /// A reference to a document, which need not exist. (Indirect: a path is twice the size of any other payload.)
    indirect case reference(DocumentPath)
    /// A geographic point.
    case geoPoint(GeoPoint)
    /// An array; elements cannot be arrays themselves.
    case array([Value])
    /// A vector embedding for nearest-neighbor search.
    case vector([Double])
    /// A map of named values.
    case map(MapValue)
}

extension Value: Hashable {
    /// Returns whether both are bitwise equal.
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left.canonicalBits == right.canonicalBits
        case (.timestamp(let left), .timestamp(let right)): left == right
        case (.string(let left), .string(let right)): UTF8Key(left) == UTF8Key(right)
        case (.bytes(let left), .bytes(let right)): left == right
        case (.reference(let left), .reference(let right)): left == right
        case (.geoPoint(let left), .geoPoint(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.vector(let left), .vector(let right)): left.elementsEqual(right) { $0.canonicalBits == $1.canonicalBits }
        case (.map(let left), .map(let right)): left == right
        default: false
        }
    }

    /// Hashes the bits that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(typeRank)
        switch self {
        case .null: break
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.canonicalBits)
        case .timestamp(let value): hasher.combine(value)
        case .string(let value): hasher.combine(UTF8Key(value))
        case .bytes(let value): hasher.combine(value)
        case .reference(let value): hasher.combine(value)
        case .geoPoint(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .vector(let value):
            hasher.combine(value.count)
            for element in value { hasher.combine(element.canonicalBits) }
        case .map(let value): hasher.combine(value)
        }
    }
}

extension Value {
    /// True if the value is an integer or a double, including NaN.
    var isNumber: Bool {
        switch self {
        case .integer, .double: true
        default: false
        }
    }

    /// True if the value is NaN.
    var isNaN: Bool {
        if case .double(let value) = self { value.isNaN } else { false }
    }
}

extension Double {
    /// The bit pattern, with a single canonical NaN.
    fileprivate var canonicalBits: UInt64 { isNaN ? Double.nan.bitPattern : bitPattern }
}
