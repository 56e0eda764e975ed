/// A value as bytes that compare as values do in queries: see ``KeyEncoder`` for the bytes.
///
/// Values that are equal to a query (``Value/comparedInQueries(to:)``) have equal keys, and of two that are not, the smaller has
/// the smaller key, with one exception: keys are cut off, since a value may be as long as a document. A key that ``isCut`` has the
/// value's first 1,503 bytes. Keys of which at most one is cut still compare as their values. Of two that are cut and equal,
/// nothing is known of the values but their type and how they begin: whoever needs to know more compares the values themselves.
///
/// Only arrays, vectors, maps and references are cut, and strings and bytes in which the bytes 0 and 1, which count twice, make
/// more than 1,500 of what queries see.
package struct ValueKey: Hashable, Sendable {
    /// The longest key of a whole value: a text of 1,500 bytes.
    package static let maximumBytes = 1_502

    /// The bytes.
    package let bytes: [UInt8]

    /// The key of a value.
    package init(_ value: Value) {
        var encoder = KeyEncoder()
        encoder.append(value)
        bytes = encoder.bytes
    }

    /// Whether it is cut off, so that other values may have the same key.
    package var isCut: Bool { Self.isCut(byteCount: bytes.count) }

    /// Whether a key of that length is cut off.
    package static func isCut(byteCount: Int) -> Bool { byteCount > maximumBytes }
}

/// A range of keys, from the first bytes that are in it to the first that are not.
package struct ValueKeyRange: Hashable, Sendable {
    /// The least bytes in the range.
    package var lower: [UInt8]
    /// The least bytes behind the range; no key reaches `ff`.
    package var upper: [UInt8]

    /// The range between two bounds.
    package init(lower: [UInt8], upper: [UInt8]) {
        self.lower = lower
        self.upper = upper
    }

    /// All keys.
    package static let all = ValueKeyRange(lower: [], upper: [0xff])

    /// The keys of a type; see ``ValueBracket``.
    package static func bracket(_ bracket: ValueBracket) -> ValueKeyRange {
        ValueKeyRange(lower: [bracket.firstByte], upper: [bracket.firstByte + 1])
    }

    /// One key. Where it is cut, values that are not equal to the value have it too.
    package static func equal(to key: ValueKey) -> ValueKeyRange {
        ValueKeyRange(lower: key.bytes, upper: key.firstBehind)
    }

    /// The keys of the value's type that are below its key, or also its own.
    package static func less(than value: Value, orEqual isInclusive: Bool) -> ValueKeyRange {
        let key = ValueKey(value)
        return ValueKeyRange(lower: [ValueBracket(of: value).firstByte], upper: isInclusive ? key.firstBehind : key.bytes)
    }

    /// The keys of the value's type that are above its key, or also its own.
    package static func greater(than value: Value, orEqual isInclusive: Bool) -> ValueKeyRange {
        let key = ValueKey(value)
        return ValueKeyRange(lower: isInclusive ? key.bytes : key.firstBehind, upper: [ValueBracket(of: value).firstByte + 1])
    }

    /// The keys that are in both ranges.
    package func intersection(_ other: ValueKeyRange) -> ValueKeyRange {
        ValueKeyRange(
            lower: lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower,
            upper: upper.lexicographicallyPrecedes(other.upper) ? upper : other.upper
        )
    }

    /// Whether no key can be in the range.
    package var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }
}

extension ValueKey {
    /// The least bytes that come behind the key.
    package var firstBehind: [UInt8] { bytes + [0] }
}

/// The types that filters tell apart: a comparison with a value matches values of its bracket only.
package enum ValueBracket: UInt8, Sendable, CaseIterable {
    case null = 0x10
    case boolean = 0x20
    /// NaN alone, which no comparison of numbers matches.
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

    /// The bracket of a value.
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

    /// What the keys of its values begin with.
    package var firstByte: UInt8 { rawValue }
}
