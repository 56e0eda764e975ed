internal import QueryEngine

/// The addition or removal of an index entry. It points to memory that it does not own.
struct EntryChange {
    let space: Int64
    /// The first eight bytes of the value, which decide most comparisons.
    let prefix: UInt64
    let value: UnsafeRawBufferPointer
    let name: UnsafeRawBufferPointer
    let isAddition: Bool
    /// True if the added entry is the value of a field that is a double; see ``IndexSchema``.
    let isDouble: Bool

    /// Returns the first eight bytes of a value as a big-endian integer. Where two prefixes differ, they are ordered like the values.
    static func prefix(of value: UnsafeRawBufferPointer) -> UInt64 {
        if value.count >= 8 { return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)) }
        return value.reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - value.count))
    }

    /// Compares two entries in index order; the result is negative when this one sorts first.
    func compare(_ other: EntryChange) -> Int {
        if space != other.space { return space < other.space ? -1 : 1 }
        if prefix != other.prefix { return prefix < other.prefix ? -1 : 1 }
        let values = value.compare(other.value)
        return values == 0 ? name.compare(other.name) : values
    }
}

extension EntryChange {
    /// The fixed-size header of an encoded change, in native byte order. The value and the name follow it.
    struct Header {
        let space: Int64
        let valueBytes: Int
        let nameBytes: Int
        let isAddition: Bool
        let isDouble: Bool

        static let byteCount = 16

        /// Decodes a header.
        init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
            space = bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self)
            valueBytes = Int(bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self))
            let name = bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
            nameBytes = Int(name >> 2)
            isDouble = name & 2 != 0
            isAddition = name & 1 != 0
        }
    }

    /// Appends the encoded change.
    func append(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: space) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(value.count)) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(name.count) << 2 | (isDouble ? 2 : 0) | (isAddition ? 1 : 0)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: value)
        bytes.append(contentsOf: name)
    }
}
