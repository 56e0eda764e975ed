/// The bytes of a file or a write, without storage for trailing zeros, such as those of preallocated files.
struct FileBytes: Hashable, Sendable {
    /// The number of bytes, including trailing zeros.
    private(set) var count: Int
    /// The bytes without trailing zeros.
    private(set) var stored: [UInt8]

    /// Creates bytes, padded with zeros up to `count`.
    init(_ stored: [UInt8] = [], count: Int? = nil) {
        self.stored = stored
        self.count = count ?? stored.count
        trim()
    }

    /// Writes bytes at an offset; fills a gap with zeros.
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

    /// Truncates the bytes or adds zeros.
    mutating func resize(to newCount: Int) {
        count = newCount
        if stored.count > newCount { stored.removeLast(stored.count - newCount) }
        trim()
    }

    /// Adds zeros up to a size.
    mutating func grow(to newCount: Int) {
        count = max(count, newCount)
    }

    /// Returns the first bytes.
    func prefix(_ length: Int) -> FileBytes {
        FileBytes(Array(stored.prefix(length)), count: min(length, count))
    }

    /// Returns the bytes after the first ones.
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
    // Hashes the whole buffer, which is much faster than the synthesized implementation.
    func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        stored.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
