/// The result of comparing two values in a total order.
public enum Comparison: Sendable, Hashable {
    /// The first value sorts before the second.
    case less
    /// The values are equal in the order.
    case equal
    /// The first value sorts after the second.
    case greater
}

extension Comparison {
    /// Compares two values by `<`, which must be a total order.
    init<T: Comparable>(_ left: T, _ right: T) {
        self = left < right ? .less : left == right ? .equal : .greater
    }

    /// Compares two sequences as unsigned bytes; a prefix sorts first.
    init(bytes left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) {
        let contiguous = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                Self(buffers: UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
        self = (contiguous ?? nil) ?? Self(left, right) { Comparison($0, $1) }
    }

    /// Compares two sequences element by element; a prefix sorts first.
    init<S: Sequence, T: Sequence>(_ left: S, _ right: T, by compare: (S.Element, T.Element) -> Comparison) {
        var left = left.makeIterator()
        var right = right.makeIterator()
        while true {
            switch (left.next(), right.next()) {
            case (nil, nil):
                self = .equal
                return
            case (nil, _?):
                self = .less
                return
            case (_?, nil):
                self = .greater
                return
            case (let first?, let second?):
                let result = compare(first, second)
                guard result == .equal else {
                    self = result
                    return
                }
            }
        }
    }

    /// Compares eight bytes at a time: sorted strings often share long prefixes.
    private init(buffers left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) {
        let common = min(left.count, right.count)
        var offset = 0
        while offset + 8 <= common {
            let first = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let second = right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard first == second else {
                self = first.bigEndian < second.bigEndian ? .less : .greater
                return
            }
            offset += 8
        }
        while offset < common {
            guard left[offset] == right[offset] else {
                self = left[offset] < right[offset] ? .less : .greater
                return
            }
            offset += 1
        }
        self = Comparison(left.count, right.count)
    }
}
