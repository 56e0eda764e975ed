internal import DocumentModel

/// The key of several values together: their ``ValueKey``s one behind the other, all bits turned of those that come the other way
/// round. It is cut off as the key of one value is.
struct CompositeKey {
    private(set) var bytes: [UInt8] = []

    /// Whether it is cut off, so that other values may have the same key.
    var isCut: Bool { ValueKey.isCut(byteCount: bytes.count) }

    /// Adds the next value's key.
    mutating func append(_ key: some Sequence<UInt8>, _ direction: Query.Order.Direction) {
        guard !isCut else { return }
        if direction == .ascending { bytes += key } else { bytes += key.lazy.map { ~$0 } }
        let excess = bytes.count - ValueKey.maximumBytes - 1
        if excess > 0 { bytes.removeLast(excess) }
    }

    /// The keys that begin with this one and go on with a value in a range; at its ends perhaps one more.
    func followed(by range: ValueKeyRange, _ direction: Query.Order.Direction) -> ValueKeyRange {
        guard direction == .descending else {
            return ValueKeyRange(lower: bytes + range.lower, upper: bytes + Self.upper(continuing: range.upper))
        }
        return ValueKeyRange(lower: bytes + Self.lower(turning: range.upper), upper: bytes + Self.upper(turning: range.lower))
    }

    /// The keys that are this one, or begin with it.
    var all: ValueKeyRange { ValueKeyRange(lower: bytes, upper: bytes + [0xff]) }

    /// Where the keys below a bound end when more values follow them.
    private static func upper(continuing bound: [UInt8]) -> [UInt8] {
        // A bound right behind a key is the key and a zero, and what follows the key is greater than that.
        bound.count > 1 && bound.last == 0 ? bound.dropLast() + [0xff] : bound
    }

    /// Where the keys below a bound begin when they come the other way round.
    private static func lower(turning bound: [UInt8]) -> [UInt8] {
        if bound.count <= 1 { return bound.map { ~$0 &+ 1 } }
        // A bound right behind a key is the key and a zero.
        return (bound.last == 0 ? bound.dropLast() : bound[...]).map { ~$0 }
    }

    /// Where the keys from a bound on end when they come the other way round.
    private static func upper(turning bound: [UInt8]) -> [UInt8] {
        if bound.count <= 1 { return bound.isEmpty ? [0xff] : bound.map { ~$0 &+ 1 } }
        return bound.map { ~$0 } + [0xff]
    }
}
