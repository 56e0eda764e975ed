import Cryptography
import Foundation
import UTF8Text

/// A set of document names that may also contain a few others: Firestore's `BloomFilter`.
///
/// The bits of a name are derived from two halves of its MD5 hash (`bloom_filter.proto`; Kirsch and Mitzenmacher, "Less hashing,
/// same performance", 2006).
package struct BloomFilter: Hashable, Sendable {
    /// The bits, the first in the lowest bit of the first byte.
    package private(set) var bitmap: [UInt8]
    /// The number of unused bits at the end of the last byte.
    package let padding: Int
    /// The number of bits of each name.
    package let hashCount: Int

    /// The share of other names that the filter contains.
    private static let falsePositiveRate = 0.0001
    /// The minimum number of bits. In a smaller filter, the bits of many names coincide.
    private static let minimumBitCount = 1_024

    /// Creates the filter of names, with the size for ``falsePositiveRate``.
    package init(_ names: [String]) {
        guard !names.isEmpty else {
            self.init([], bitCount: 0, hashCount: 0)
            return
        }
        let bitsPerName = -log(Self.falsePositiveRate) / (log(2) * log(2))
        let bitCount = Int((Double(names.count) * bitsPerName).rounded(.up))
        self.init(
            names,
            bitCount: max(Self.minimumBitCount, bitCount),
            hashCount: Int((bitsPerName * log(2)).rounded())
        )
    }

    /// Creates a filter with a given size.
    package init(_ names: [String], bitCount: Int, hashCount: Int) {
        bitmap = [UInt8](repeating: 0, count: (bitCount + 7) / 8)
        padding = bitmap.count * 8 - bitCount
        self.hashCount = hashCount
        guard bitCount > 0 else { return }
        for name in names {
            for bit in Self.bits(of: name, bitCount: bitCount, hashCount: hashCount) { bitmap[bit / 8] |= 1 << (bit % 8) }
        }
    }

    /// Returns whether the filter contains a name.
    package func contains(_ name: String) -> Bool {
        let bitCount = bitmap.count * 8 - padding
        guard bitCount > 0 else { return false }
        return Self.bits(of: name, bitCount: bitCount, hashCount: hashCount).allSatisfy { bitmap[$0 / 8] & 1 << ($0 % 8) != 0 }
    }

    private static func bits(of name: String, bitCount: Int, hashCount: Int) -> [Int] {
        let digest = MD5.digest(of: Array(name.utf8))
        let first = littleEndian(digest[0..<8])
        let second = littleEndian(digest[8..<16])
        return (0..<UInt64(hashCount)).map { Int((first &+ $0 &* second) % UInt64(bitCount)) }
    }

    private static func littleEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
