/// The checksum of a row with user data: SQLite itself does not notice a changed byte in a value.
struct RowChecksum {
    /// The 64-bit FNV-1a hash of the values, with the length of each text and BLOB before it.
    private(set) var value: Int64 = .init(bitPattern: 0xcbf2_9ce4_8422_2325)

    /// Adds an integer.
    mutating func add(_ integer: Int64) {
        withUnsafeBytes(of: integer.littleEndian) { combine($0) }
    }

    /// Adds a number.
    mutating func add(_ number: UInt64) {
        add(Int64(clamping: number))
    }

    /// Adds a text.
    mutating func add(_ text: String) {
        add(Array(text.utf8))
    }

    /// Adds a text in UTF-8, or bytes.
    mutating func add(_ bytes: [UInt8]) {
        add(Int64(bytes.count))
        bytes.withUnsafeBytes { combine($0) }
    }

    private mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        var hash = UInt64(bitPattern: value)
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        value = Int64(bitPattern: hash)
    }
}
