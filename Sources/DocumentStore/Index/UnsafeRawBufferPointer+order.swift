internal import Glibc

extension UnsafeRawBufferPointer {
    /// Compares bytes as `memcmp` does, the shorter first on a common prefix: below zero when these come first.
    package func compare(_ other: UnsafeRawBufferPointer) -> Int {
        if let start = baseAddress, let otherStart = other.baseAddress {
            let result = memcmp(start, otherStart, Swift.min(count, other.count))
            if result != 0 { return Int(result) }
        }
        return count - other.count
    }
}
