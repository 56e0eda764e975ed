internal import DocumentModel
internal import Glibc
internal import UTF8Text

/// A hash table of document names in one partition of all names, packed into a few arrays.
struct NameTable {
    /// The hash of a name. Its seed is random in each process, so that nobody can choose names that collide.
    struct Hash {
        let value: UInt64

        init(_ name: UnsafeRawBufferPointer) {
            value = SeededHash.hash(name)
        }

        /// The bits by which a table finds a name; partitions use the others.
        fileprivate var tag: UInt32 { UInt32(truncatingIfNeeded: value >> 32) }
    }

    /// A part of all names: those whose hashes end with some bits.
    struct Partition {
        private let bitCount: UInt64
        private let bits: UInt64

        /// The partition of all names.
        static let all = Partition(bitCount: 0, bits: 0)

        /// The two halves of the partition; `nil` if it cannot be divided.
        var halves: [Partition]? {
            guard bitCount < 32 else { return nil }
            return [0, 1].map { Partition(bitCount: bitCount + 1, bits: bits | $0 << bitCount) }
        }

        func contains(_ hash: Hash) -> Bool { hash.value & (1 << bitCount - 1) == bits }
    }

    /// The names, one after another, and the end of each.
    private var bytes: [UInt8] = []
    private var ends: [UInt32] = []
    /// The number of steps of a join that each name has passed.
    private var steps: [UInt16] = []
    /// Open addressing: the tag of a name and its index plus 1; 0 if a slot is free.
    private var slots = [UInt64](repeating: 0, count: 64)

    /// The number of names.
    var count: Int { ends.count }

    /// The memory use.
    var byteCount: Int { bytes.count + 6 * ends.count + 8 * slots.count }

    /// Returns the index of a name; `nil` if it is not in the table.
    func index(of name: UnsafeRawBufferPointer, _ hash: Hash) -> Int? {
        let found = slots[slot(of: name, hash)]
        return found == 0 ? nil : Int(found & 0xffff_ffff) - 1
    }

    /// Inserts a name, unless the table contains it.
    mutating func insert(_ name: UnsafeRawBufferPointer, _ hash: Hash) {
        let slot = slot(of: name, hash)
        guard slots[slot] == 0 else { return }
        bytes.append(contentsOf: name)
        ends.append(UInt32(bytes.count))
        steps.append(0)
        slots[slot] = UInt64(hash.tag) << 32 | UInt64(ends.count)
        if 4 * ends.count > 3 * slots.count { grow() }
    }

    /// Returns whether a name has passed a number of steps.
    func hasPassed(_ index: Int, _ step: Int) -> Bool { steps[index] == step }

    /// Records that a name that has passed all steps before one passes that one.
    mutating func pass(_ index: Int, _ step: Int) {
        steps[index] = UInt16(step)
    }

    /// Calls `body` with each name and its hash that has passed a number of steps.
    func forEach(passed step: Int, _ body: (UnsafeRawBufferPointer, Hash) -> Void) {
        bytes.withUnsafeBytes { bytes in
            for index in ends.indices where steps[index] == step {
                let name = UnsafeRawBufferPointer(rebasing: bytes[range(index)])
                body(name, Hash(name))
            }
        }
    }

    private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index]) }

    /// Returns the slot of a name, or the free slot where it belongs.
    private func slot(of name: UnsafeRawBufferPointer, _ hash: Hash) -> Int {
        let mask = slots.count - 1
        var slot = Int(hash.tag) & mask
        while slots[slot] != 0 {
            if UInt32(truncatingIfNeeded: slots[slot] >> 32) == hash.tag {
                let range = range(Int(slots[slot] & 0xffff_ffff) - 1)
                if range.count == name.count, bytes.withUnsafeBytes({ Self.areEqual($0[range], name) }) { return slot }
            }
            slot = (slot + 1) & mask
        }
        return slot
    }

    /// Compares two names of the same length.
    private static func areEqual(_ left: Slice<UnsafeRawBufferPointer>, _ right: UnsafeRawBufferPointer) -> Bool {
        let left = UnsafeRawBufferPointer(rebasing: left)
        guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return true }
        return memcmp(leftStart, rightStart, right.count) == 0
    }

    private mutating func grow() {
        var larger = [UInt64](repeating: 0, count: 2 * slots.count)
        let mask = larger.count - 1
        for entry in slots where entry != 0 {
            var slot = Int(entry >> 32) & mask
            while larger[slot] != 0 { slot = (slot + 1) & mask }
            larger[slot] = entry
        }
        slots = larger
    }
}
