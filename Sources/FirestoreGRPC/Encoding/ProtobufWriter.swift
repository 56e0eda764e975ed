import DocumentModel

/// A writer of Protocol Buffers' wire format (https://protobuf.dev/programming-guides/encoding/).
///
/// For the messages with documents, which are most of what the server sends: they are written from stored bytes, without the
/// generated messages.
struct ProtobufWriter {
    /// The bytes written so far.
    private(set) var bytes: [UInt8] = []

    private enum WireType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case lengthDelimited = 2
    }

    /// Creates an empty writer with `capacity` bytes reserved.
    init(reservingCapacity capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Returns the written bytes without copying them.
    consuming func finish() -> [UInt8] {
        bytes
    }

    // MARK: - Fields

    mutating func boolean(_ value: Bool, field: Int) {
        tag(field, .varint)
        bytes.append(value ? 1 : 0)
    }

    mutating func integer(_ value: Int64, field: Int) {
        tag(field, .varint)
        varint(UInt64(bitPattern: value))
    }

    mutating func double(_ value: Double, field: Int) {
        tag(field, .fixed64)
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func string(_ value: String, field: Int) {
        tag(field, .lengthDelimited)
        var value = value
        value.withUTF8 { text in
            varint(UInt64(text.count))
            bytes.append(contentsOf: text)
        }
    }

    mutating func data(_ value: some Collection<UInt8>, field: Int) {
        tag(field, .lengthDelimited)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Writes a list of numbers; nothing for none.
    mutating func packed(_ values: [Int32], field: Int) {
        guard !values.isEmpty else { return }
        message(field: field) { writer in
            for value in values { writer.varint(UInt64(bitPattern: Int64(value))) }
        }
    }

    /// Writes a message, whose fields `body` writes.
    mutating func message<Failure>(
        field: Int,
        _ body: (inout ProtobufWriter) throws(Failure) -> Void
    ) throws(Failure) {
        tag(field, .lengthDelimited)
        // Most lengths take one byte. The content is moved to make room for a longer one.
        let start = bytes.count
        bytes.append(0)
        try body(&self)
        var length = bytes.count - start - 1
        guard length >= 0x80 else {
            bytes[start] = UInt8(length)
            return
        }
        let byteCount = (Int.bitWidth - length.leadingZeroBitCount + 6) / 7
        bytes.insert(contentsOf: repeatElement(0x80, count: byteCount - 1), at: start)
        for index in start..<start + byteCount - 1 {
            bytes[index] |= UInt8(length & 0x7F)
            length >>= 7
        }
        bytes[start + byteCount - 1] = UInt8(length)
    }

    // MARK: - Primitives

    private mutating func tag(_ field: Int, _ type: WireType) {
        varint(UInt64(field) << 3 | type.rawValue)
    }

    private mutating func varint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }
}
