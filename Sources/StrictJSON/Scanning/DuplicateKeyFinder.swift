import UTF8Text

/// A detector of duplicate keys in an object that takes time linear in the number of members.
///
/// Keys in ascending order, as in stored documents, cost one comparison each. Otherwise up to eight keys are compared
/// pairwise, and more go through a hash table. The hash is seeded per process, so an input cannot be crafted to collide.
/// The table's memory is reused for the next object.
struct DuplicateKeyFinder {
    private static let pairwiseLimit = 8

    /// Open-addressing slots: the tape index of a key, or 0 for an empty slot (index 0 is never a key).
    private var slots: [UInt32] = []

    /// Returns the tape index of the first key that equals an earlier key of the same object, or `nil`.
    mutating func firstRepeatedKey(
        ofObjectAt object: Int,
        on tape: [JSONTapeEntry],
        in text: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        let keys = ObjectKeys(object: object, tape: tape, text: text)
        if keys.areAscending() { return nil }
        if keys.count <= Self.pairwiseLimit { return keys.firstRepeatedPairwise() }
        return firstRepeatedHashed(keys)
    }

    private mutating func firstRepeatedHashed(_ keys: ObjectKeys) -> Int? {
        // A power of two, so that the hash is reduced by a mask; at most half full.
        let capacity = 1 << (Int.bitWidth - (2 * keys.count - 1).leadingZeroBitCount)
        if slots.count < capacity {
            slots = Array(repeating: 0, count: capacity)
        } else {
            for slot in 0..<capacity { slots[slot] = 0 }
        }
        var index = keys.first
        for _ in 0..<keys.count {
            let key = keys.body(at: index)
            var hasher = Hasher()
            key.withUnescaped { hasher.combineDelimited($0) }
            var slot = hasher.finalize() & (capacity - 1)
            while slots[slot] != 0 {
                if keys.body(at: Int(slots[slot])).isEqual(to: key) { return index }
                slot = (slot + 1) & (capacity - 1)
            }
            slots[slot] = UInt32(truncatingIfNeeded: index)
            index = keys.index(after: index)
        }
        return nil
    }
}

/// The keys of an object that is complete on the tape.
private struct ObjectKeys {
    let first: Int
    let count: Int
    private let tape: [JSONTapeEntry]
    private let text: UnsafeBufferPointer<UInt8>

    init(object: Int, tape: [JSONTapeEntry], text: UnsafeBufferPointer<UInt8>) {
        self.first = object + 1
        self.count = tape[object].count
        self.tape = tape
        self.text = text
    }

    func index(after key: Int) -> Int { Int(tape[key + 1].next) }

    func body(at key: Int) -> JSONStringBody { JSONStringBody(tape[key], in: text) }

    /// Returns whether every key is greater than the previous one; `false` if any key has escapes.
    func areAscending() -> Bool {
        var previous = body(at: first)
        var index = first
        for _ in 1..<count {
            index = self.index(after: index)
            let key = body(at: index)
            guard !previous.hasEscapes, !key.hasEscapes, previous.bytes.precedes(key.bytes) else { return false }
            previous = key
        }
        return true
    }

    func firstRepeatedPairwise() -> Int? {
        var later = first
        for number in 1..<count {
            later = index(after: later)
            var earlier = first
            for _ in 0..<number {
                if body(at: earlier).isEqual(to: body(at: later)) { return later }
                earlier = index(after: earlier)
            }
        }
        return nil
    }
}
