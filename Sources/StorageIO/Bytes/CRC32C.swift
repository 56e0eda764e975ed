/// CRC-32C (Castagnoli, as in iSCSI and ext4), computed eight bytes at a time (slicing-by-8).
package enum CRC32C {
    /// Returns the checksum of `bytes`.
    package static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            var checksum = UInt32.max
            var offset = 0
            while offset + 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ UInt64(checksum)
                checksum = 0
                for position in 0..<8 {
                    let byte = Int(truncatingIfNeeded: word >> (8 * UInt64(position)) & 0xff)
                    checksum ^= tables[(7 - position) * 256 + byte]
                }
                offset += 8
            }
            while offset < bytes.count {
                checksum = checksum >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: checksum) ^ bytes[offset])]
                offset += 1
            }
            return ~checksum
        }
    }

    /// The tables of slicing-by-8: entry n × 256 + b is the CRC of byte b followed by n zero bytes.
    private static let tables: [UInt32] = {
        let polynomial: UInt32 = 0x82f6_3b78
        var tables = (0..<256).map { (byte: UInt32) in
            (0..<8).reduce(byte) { value, _ in value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
        }
        for index in 256..<(8 * 256) {
            let value = tables[index - 256]
            tables.append(value >> 8 ^ tables[Int(value & 0xff)])
        }
        return tables
    }()
}
