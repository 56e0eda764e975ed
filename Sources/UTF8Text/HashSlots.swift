/// A hash table of positions in an array that its owner keeps, with linear probing. It takes 7 to 14 bytes of memory an element.
package struct HashSlots: Sendable {
    /// Eight bits of the hashes, by slot, so that few other elements are compared; 0 in free slots.
    private var tags: [UInt8]
    private var positions: [UInt32]
    private var count = 0

    /// Creates a table with space for a number of elements; it grows if there are more.
    package init(minimumCapacity: Int = 0) {
        let slotCount = Self.slotCount(minimumCapacity)
        tags = Array(repeating: 0, count: slotCount)
        positions = Array(repeating: 0, count: slotCount)
    }

    /// Returns the position of the element with a hash that satisfies a predicate; `nil` if there is none.
    package func position(of hash: UInt64, where isEqual: (Int) -> Bool) -> Int? {
        let tag = Self.tag(of: hash)
        var slot = slot(of: hash)
        while tags[slot] != 0 {
            if tags[slot] == tag, isEqual(Int(positions[slot])) { return Int(positions[slot]) }
            slot = slot + 1 == tags.count ? 0 : slot + 1
        }
        return nil
    }

    /// Adds an element, which must not be in the table.
    ///
    /// - Parameter hashAt: Returns the hash of the element at a position.
    package mutating func insert(_ position: Int, _ hash: UInt64, hashAt: (Int) -> UInt64) {
        if Self.slotCount(count + 1) > tags.count {
            var larger = HashSlots(minimumCapacity: 2 * (count + 1))
            for slot in tags.indices where tags[slot] != 0 { larger.fill(positions[slot], hashAt(Int(positions[slot]))) }
            larger.count = count
            self = larger
        }
        fill(UInt32(position), hash)
        count += 1
    }

    private mutating func fill(_ position: UInt32, _ hash: UInt64) {
        var slot = slot(of: hash)
        while tags[slot] != 0 { slot = slot + 1 == tags.count ? 0 : slot + 1 }
        tags[slot] = Self.tag(of: hash)
        positions[slot] = position
    }

    /// The slot depends on the highest bits of the hash, and the tag on the lowest.
    private func slot(of hash: UInt64) -> Int {
        Int(hash.multipliedFullWidth(by: UInt64(tags.count)).high)
    }

    private static func tag(of hash: UInt64) -> UInt8 {
        max(UInt8(truncatingIfNeeded: hash), 1)
    }

    /// At most three quarters of the slots are used.
    private static func slotCount(_ elements: Int) -> Int { elements + elements / 3 + 4 }
}
