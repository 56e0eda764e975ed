/// A 64-bit hash of bytes for tables and comparisons within a process, many times as fast as `Hasher`.
///
/// It multiplies eight bytes at a time to 128 bits and folds the halves, with seeds that are random in each process, so that nobody
/// can choose bytes that have equal hashes. Whoever knows hashes could find such bytes: they must not leave the process.
package enum SeededHash {
    private static let seeds = (UInt64.random(in: .min ... .max) | 1, UInt64.random(in: .min ... .max) | 1)

    /// Returns the hash of `bytes` and a number.
    package static func hash(_ bytes: UnsafeRawBufferPointer, _ number: UInt64 = 0) -> UInt64 {
        let seeds = seeds
        var state = fold(number ^ seeds.0, seeds.1)
        var offset = 0
        while bytes.count - offset >= 8 {
            state = fold(state ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self), seeds.1)
            offset += 8
        }
        // The count tells the rest from a rest that ends with zeros.
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return fold(fold(state ^ rest, seeds.1) ^ UInt64(bytes.count), seeds.0)
    }

    /// Returns the hash of two hashes, which are interchangeable.
    package static func combine(_ left: UInt64, _ right: UInt64) -> UInt64 {
        fold(left ^ right, seeds.1)
    }

    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
