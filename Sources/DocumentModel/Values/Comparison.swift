/// How one value stands to another in a total order.
public enum Comparison: Sendable, Hashable {
    /// The first comes before the second.
    case less
    /// Neither comes first.
    case equal
    /// The first comes after the second.
    case greater
}

extension Comparison {
    /// Compares by the type's own order, which must be total.
    init<T: Comparable>(_ left: T, _ right: T) {
        self = left < right ? .less : left == right ? .equal : .greater
    }

    /// Compares as unsigned bytes; the shorter comes first on a common prefix.
    init(bytes left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) {
        let contiguous = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                Self(buffers: UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
        self = (contiguous ?? nil) ?? Self(left, right) { Comparison($0, $1) }
    }

    /// Compares element by element; the shorter comes first on a common prefix.
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

    /// Eight bytes at a time: strings that are compared while sorting often begin alike.
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
