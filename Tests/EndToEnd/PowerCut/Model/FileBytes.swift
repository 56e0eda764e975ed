/// The bytes of a file, or of a write, of which the zeros at the end are not stored: a preallocated file costs nothing.
struct FileBytes: Hashable, Sendable {
    /// How many bytes there are, with the zeros at the end.
    private(set) var count: Int
    /// The bytes before the zeros at the end.
    private(set) var stored: [UInt8]

    /// These bytes, and zeros up to `count`.
    init(_ stored: [UInt8] = [], count: Int? = nil) {
        self.stored = stored
        self.count = count ?? stored.count
        trim()
    }

    /// Puts bytes at an offset, with zeros before them when the end was before that.
    mutating func write(_ bytes: FileBytes, at offset: Int) {
        let storedEnd = offset + bytes.stored.count
        if !bytes.stored.isEmpty {
            stored += repeatElement(0, count: max(0, storedEnd - stored.count))
            stored.replaceSubrange(offset..<storedEnd, with: bytes.stored)
        }
        let zerosEnd = min(offset + bytes.count, stored.count)
        if storedEnd < zerosEnd {
            stored.replaceSubrange(storedEnd..<zerosEnd, with: repeatElement(0, count: zerosEnd - storedEnd))
        }
        trim()
        count = max(count, offset + bytes.count)
    }

    /// Cuts the bytes off, or adds zeros.
    mutating func resize(to newCount: Int) {
        count = newCount
        if stored.count > newCount { stored.removeLast(stored.count - newCount) }
        trim()
    }

    /// Adds zeros up to a size, if there are fewer bytes.
    mutating func grow(to newCount: Int) {
        count = max(count, newCount)
    }

    /// The first bytes.
    func prefix(_ length: Int) -> FileBytes {
        FileBytes(Array(stored.prefix(length)), count: min(length, count))
    }

    /// The bytes behind the first ones.
    func dropFirst(_ length: Int) -> FileBytes {
        FileBytes(Array(stored.dropFirst(length)), count: max(0, count - length))
    }

    private mutating func trim() {
        let end = stored.withUnsafeBytes { bytes in
            var end = bytes.count
            while end >= 8, bytes.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self) == 0 { end -= 8 }
            while end > 0, bytes[end - 1] == 0 { end -= 1 }
            return end
        }
        stored.removeLast(stored.count - end)
    }
}

extension FileBytes {
    // The bytes at once; one by one takes much longer.
    func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        stored.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
