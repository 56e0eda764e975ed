/// Finds a repeated name among the members of an object, in time linear in their number.
///
/// Names in ascending order, as documents are stored, need one comparison each. Otherwise few are
/// compared each with each, and many go through a table whose hash is seeded per process, so that
/// no text can be made to collide. The table is kept for the next object.
struct DuplicateKeyFinder {
    private static let mostComparedPairwise = 8

    /// Open addressing: the index of a key on the tape, or 0, where no key can be.
    private var slots: [UInt32] = []

    /// The tape index of the first key that equals an earlier one of the same object.
    mutating func firstRepeatedKey(
        ofObjectAt object: Int,
        on tape: [JSONTapeEntry],
        in text: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        let keys = Keys(object: object, tape: tape, text: text)
        if keys.areAscending() { return nil }
        if keys.count <= Self.mostComparedPairwise { return keys.firstRepeatedPairwise() }
        return firstRepeatedHashed(keys)
    }

    private mutating func firstRepeatedHashed(_ keys: Keys) -> Int? {
        // At most half full; a power of two, so that the hash is cut with a mask.
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
                if keys.body(at: Int(slots[slot])).isSame(as: key) { return index }
                slot = (slot + 1) & (capacity - 1)
            }
            slots[slot] = UInt32(truncatingIfNeeded: index)
            index = keys.index(after: index)
        }
        return nil
    }
}

/// The keys of an object whose members are all on the tape.
private struct Keys {
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

    /// Whether each key is greater than the one before it; false when one has escapes.
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
                if body(at: earlier).isSame(as: body(at: later)) { return later }
                earlier = index(after: earlier)
            }
        }
        return nil
    }
}
