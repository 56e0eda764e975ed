internal import StrictJSON

/// A value of a field: Firestore's types.
///
/// `==` and hashing answer "stored alike": same type, same bits, same bytes. So `3` and `3.0` differ, as do `0.0` and
/// `-0.0` and the two ways to write "é", while NaN equals NaN. Filters, sorting and array transforms use
/// ``compared(to:)`` and ``isEqual(to:)`` instead.
public enum Value: Sendable {
    /// The null value.
    case null
    /// True or false.
    case boolean(Bool)
    /// A whole number of 64 bits.
    case integer(Int64)
    /// A floating-point number; NaN and the infinities are values like any other.
    case double(Double)
    /// A moment, to the microsecond.
    case timestamp(Timestamp)
    /// A text: its UTF-8 bytes, never normalised.
    case string(String)
    /// Bytes.
    case bytes([UInt8])
    /// The path of a document, which need not exist. (Indirect, since a path is twice the size of any other payload.)
    indirect case reference(DocumentPath)
    /// A place on Earth.
    case geoPoint(GeoPoint)
    /// Values in order; none of them directly an array.
    case array([Value])
    /// An embedding: numbers for nearest-neighbour search.
    case vector([Double])
    /// Named values.
    case map(MapValue)
}

extension Value: Hashable {
    /// Whether both are stored alike.
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left.storedBits == right.storedBits
        case (.timestamp(let left), .timestamp(let right)): left == right
        case (.string(let left), .string(let right)): UTF8Key(left) == UTF8Key(right)
        case (.bytes(let left), .bytes(let right)): left == right
        case (.reference(let left), .reference(let right)): left == right
        case (.geoPoint(let left), .geoPoint(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.vector(let left), .vector(let right)): left.elementsEqual(right) { $0.storedBits == $1.storedBits }
        case (.map(let left), .map(let right)): left == right
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(typeRank)
        switch self {
        case .null: break
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.storedBits)
        case .timestamp(let value): hasher.combine(value)
        case .string(let value): hasher.combine(UTF8Key(value))
        case .bytes(let value): hasher.combine(value)
        case .reference(let value): hasher.combine(value)
        case .geoPoint(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .vector(let value):
            hasher.combine(value.count)
            for element in value { hasher.combine(element.storedBits) }
        case .map(let value): hasher.combine(value)
        }
    }
}

extension Double {
    /// The bits by which two doubles are stored alike; there is only one NaN in a stored document.
    fileprivate var storedBits: UInt64 { isNaN ? Double.nan.bitPattern : bitPattern }
}
