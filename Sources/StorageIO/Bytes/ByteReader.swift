/// A cursor that decodes values from bytes; every read returns `nil` if too few bytes are left.
@usableFromInline
package struct ByteReader {
    @usableFromInline
    package var rest: ArraySlice<UInt8>

    @inlinable
    package init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// True if no bytes are left.
    @inlinable
    package var isAtEnd: Bool { rest.isEmpty }

    /// Reads a little-endian integer.
    @inlinable
    package mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        bytes(MemoryLayout<Integer>.size).map { bytes in
            bytes.withUnsafeBytes { Integer(littleEndian: $0.loadUnaligned(as: Integer.self)) }
        }
    }

    /// Reads `count` bytes.
    @inlinable
    package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Reads bytes that are preceded by a 32-bit length.
    @inlinable
    package mutating func lengthPrefixedBytes() -> ArraySlice<UInt8>? {
        integer(UInt32.self).flatMap { bytes(Int($0)) }
    }
}

extension [UInt8] {
    /// Appends a little-endian integer.
    @inlinable
    package mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    /// Overwrites the bytes at `offset` with a little-endian integer.
    @inlinable
    package mutating func overwrite(littleEndian value: some FixedWidthInteger, at offset: Int) {
        Swift.withUnsafeBytes(of: value.littleEndian) { replaceSubrange(offset..<(offset + $0.count), with: $0) }
    }

    /// The index of the last nonzero byte; `nil` if all bytes are zero.
    ///
    /// Compares eight bytes at a time, because a preallocated segment is mostly zeros.
    @inlinable
    package var lastNonzeroIndex: Int? {
        withUnsafeBytes { bytes in
            var end = bytes.count
            while end >= 8, bytes.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self) == 0 { end -= 8 }
            while end > 0, bytes[end - 1] == 0 { end -= 1 }
            return end > 0 ? end - 1 : nil
        }
    }
}
