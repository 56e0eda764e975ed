/// An entry that a document loses or gets. Valid only as long as the bytes are that it points to.
struct EntryChange {
    let space: Int64
    /// The first bytes of the value, which mostly decide.
    let prefix: UInt64
    let value: UnsafeRawBufferPointer
    let name: UnsafeRawBufferPointer
    let isAddition: Bool

    /// The first eight bytes of a value as a number: as two of these are ordered, so are the values, where they differ.
    static func prefix(of value: UnsafeRawBufferPointer) -> UInt64 {
        if value.count >= 8 { return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)) }
        return value.reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - value.count))
    }

    /// The order of the entries: below zero when this one comes first.
    func compare(_ other: EntryChange) -> Int {
        if space != other.space { return space < other.space ? -1 : 1 }
        if prefix != other.prefix { return prefix < other.prefix ? -1 : 1 }
        let values = value.compare(other.value)
        return values == 0 ? name.compare(other.name) : values
    }
}

extension EntryChange {
    /// What a change is written with in front of its value and its name, in this machine's order of bytes.
    struct Header {
        let space: Int64
        let valueBytes: Int
        let nameBytes: Int
        let isAddition: Bool

        static let byteCount = 16

        /// Reads a header.
        init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
            space = bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self)
            valueBytes = Int(bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self))
            let name = bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)
            nameBytes = Int(name >> 1)
            isAddition = name & 1 == 1
        }
    }

    /// Writes the change.
    func append(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: space) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(value.count)) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(name.count) << 1 | (isAddition ? 1 : 0)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: value)
        bytes.append(contentsOf: name)
    }
}
