package import DocumentModel

/// An order-preserving key of several values: their ``ValueKey``s, concatenated; descending components are bit-inverted.
///
/// It is truncated at the same length as the key of one value.
package struct CompositeKey {
    /// The encoded bytes.
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty key.
    package init() {}

    /// True if the key is truncated, so that other values may have the same key.
    package var isTruncated: Bool { ValueKey.isTruncated(byteCount: bytes.count) }

    /// Appends the key of the next value.
    package mutating func append(_ key: some Sequence<UInt8>, _ direction: StructuredQuery.Order.Direction) {
        guard !isTruncated else { return }
        if direction == .ascending { bytes += key } else { bytes += key.lazy.map { ~$0 } }
        let excess = bytes.count - ValueKey.maximumBytes - 1
        if excess > 0 { bytes.removeLast(excess) }
    }

    /// Returns the range of the keys that have this one as a prefix, followed by a value in a range. It may include one more key at
    /// each end.
    func followed(by range: ValueKeyRange, _ direction: StructuredQuery.Order.Direction) -> ValueKeyRange {
        guard direction == .descending else {
            return ValueKeyRange(lower: bytes + range.lower, upper: bytes + Self.upper(extending: range.upper))
        }
        return ValueKeyRange(lower: bytes + Self.lower(inverting: range.upper), upper: bytes + Self.upper(inverting: range.lower))
    }

    /// The range of all keys that have this one as a prefix.
    var prefixRange: ValueKeyRange { ValueKeyRange(lower: bytes, upper: bytes + [0xff]) }

    /// Returns the upper bound of keys below a bound that are followed by more values.
    private static func upper(extending bound: [UInt8]) -> [UInt8] {
        // The successor of a key is the key and a zero byte; a longer key that starts with the key sorts after that.
        bound.count > 1 && bound.last == 0 ? bound.dropLast() + [0xff] : bound
    }

    /// Returns the inverted lower bound of keys below a bound.
    private static func lower(inverting bound: [UInt8]) -> [UInt8] {
        if bound.count <= 1 { return bound.map { ~$0 &+ 1 } }
        // The successor of a key is the key and a zero byte.
        return (bound.last == 0 ? bound.dropLast() : bound[...]).map { ~$0 }
    }

    /// Returns the inverted upper bound of keys at or above a bound.
    private static func upper(inverting bound: [UInt8]) -> [UInt8] {
        if bound.count <= 1 { return bound.isEmpty ? [0xff] : bound.map { ~$0 &+ 1 } }
        return bound.map { ~$0 } + [0xff]
    }
}
