/// An order-preserving key of a value; ``KeyEncoder`` defines the encoding.
///
/// Keys sort like values in queries (``Value/comparedInQueries(to:)``), except that keys are truncated, since a value may be as
/// long as a document. A key that ``isTruncated`` consists of the first 1,503 bytes of the encoding. Two keys compare like
/// their values if at most one of them is truncated. If two truncated keys are equal, the values have the same type and prefix,
/// and callers must compare the values themselves.
///
/// Only arrays, vectors, maps and references are truncated, as well as strings and bytes values whose escaped 0 and 1 bytes
/// make the encoding longer than 1,500 bytes.
package struct ValueKey: Hashable, Sendable {
    /// The maximum length of a complete key: that of a 1,500-byte string.
    package static let maximumBytes = 1_502

    /// The encoded bytes.
    package let bytes: [UInt8]

    /// Creates the key of a value.
    package init(_ value: Value) {
        var encoder = KeyEncoder()
        encoder.append(value)
        bytes = encoder.bytes
    }

    /// True if the key is truncated, so that other values may have the same key.
    package var isTruncated: Bool { Self.isTruncated(byteCount: bytes.count) }

    /// Returns whether a key of this length is truncated.
    package static func isTruncated(byteCount: Int) -> Bool { byteCount > maximumBytes }
}

/// A half-open range of keys.
package struct ValueKeyRange: Hashable, Sendable {
    /// The inclusive lower bound.
    package var lower: [UInt8]
    /// The exclusive upper bound; every key is less than `ff`.
    package var upper: [UInt8]

    /// Creates a range.
    package init(lower: [UInt8], upper: [UInt8]) {
        self.lower = lower
        self.upper = upper
    }

    /// The range of all keys.
    package static let all = ValueKeyRange(lower: [], upper: [0xff])

    /// Returns the keys of a ``TypeBracket``.
    package static func bracket(_ bracket: TypeBracket) -> ValueKeyRange {
        ValueKeyRange(lower: [bracket.firstByte], upper: [bracket.firstByte + 1])
    }

    /// Returns the range of a single key. If it is truncated, other values share it.
    package static func equal(to key: ValueKey) -> ValueKeyRange {
        ValueKeyRange(lower: key.bytes, upper: key.successor)
    }

    /// Returns the keys in the value's type bracket that are less than (or equal to) its key.
    package static func less(than value: Value, orEqual isInclusive: Bool) -> ValueKeyRange {
        let key = ValueKey(value)
        return ValueKeyRange(lower: [TypeBracket(of: value).firstByte], upper: isInclusive ? key.successor : key.bytes)
    }

    /// Returns the keys in the value's type bracket that are greater than (or equal to) its key.
    package static func greater(than value: Value, orEqual isInclusive: Bool) -> ValueKeyRange {
        let key = ValueKey(value)
        return ValueKeyRange(lower: isInclusive ? key.bytes : key.successor, upper: [TypeBracket(of: value).firstByte + 1])
    }

    /// Returns the intersection of both ranges.
    package func intersection(_ other: ValueKeyRange) -> ValueKeyRange {
        ValueKeyRange(
            lower: lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower,
            upper: upper.lexicographicallyPrecedes(other.upper) ? upper : other.upper
        )
    }

    /// True if the range is empty.
    package var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }
}

extension ValueKey {
    /// The least byte string greater than the key.
    package var successor: [UInt8] { bytes + [0] }
}

/// A type bracket: a comparison in a filter matches only values in the operand's bracket.
package enum TypeBracket: UInt8, Sendable, CaseIterable {
    case null = 0x10
    case boolean = 0x20
    /// NaN, which no comparison of numbers matches.
    case notANumber = 0x30
    /// Integers and doubles.
    case number = 0x31
    case timestamp = 0x40
    case string = 0x50
    case bytes = 0x60
    case reference = 0x70
    case geoPoint = 0x80
    case array = 0x90
    case vector = 0xa0
    case map = 0xb0

    /// Creates the bracket of a value.
    package init(of value: Value) {
        self =
            switch value {
            case .null: .null
            case .boolean: .boolean
            case .integer: .number
            case .double(let value): value.isNaN ? .notANumber : .number
            case .timestamp: .timestamp
            case .string: .string
            case .bytes: .bytes
            case .reference: .reference
            case .geoPoint: .geoPoint
            case .array: .array
            case .vector: .vector
            case .map: .map
            }
    }

    /// The first byte of its keys.
    package var firstByte: UInt8 { rawValue }
}
