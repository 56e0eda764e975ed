extension [UInt8] {
    /// Appends an integer, its lowest byte first.
    mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    /// Puts an integer in the place of the bytes at `offset`, its lowest byte first.
    mutating func put(littleEndian value: some FixedWidthInteger, at offset: Int) {
        Swift.withUnsafeBytes(of: value.littleEndian) { replaceSubrange(offset..<(offset + $0.count), with: $0) }
    }
}

/// Takes values from the front of bytes; nil when there are too few.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Whether all was taken.
    var isAtEnd: Bool { rest.isEmpty }

    /// The next integer, its lowest byte first.
    mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        bytes(MemoryLayout<Integer>.size).map { bytes in
            bytes.withUnsafeBytes { Integer(littleEndian: $0.loadUnaligned(as: Integer.self)) }
        }
    }

    /// The next `count` bytes.
    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// The next bytes, their number before them in four bytes.
    mutating func countedBytes() -> ArraySlice<UInt8>? {
        integer(UInt32.self).flatMap { bytes(Int($0)) }
    }
}
