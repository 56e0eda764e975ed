internal import Glibc

extension UnsafeRawBufferPointer {
    /// Compares bytes lexicographically, as `memcmp` does; a prefix sorts before a longer buffer. The result is negative when this
    /// buffer sorts first.
    package func compare(_ other: UnsafeRawBufferPointer) -> Int {
        if let start = baseAddress, let otherStart = other.baseAddress {
            let result = memcmp(start, otherStart, Swift.min(count, other.count))
            if result != 0 { return Int(result) }
        }
        return count - other.count
    }
}
