import Testing

@testable import StorageIO

@Suite("CRC-32C")
struct CRC32CTests {
    @Test(
        arguments: [
            ([UInt8](repeating: 0, count: 32), 0x8a91_36aa),
            ([UInt8](repeating: 0xff, count: 32), 0x62a8_ab43),
            (Array(0..<32), 0x46dd_794e),
            (Array("123456789".utf8), 0xe306_9283),
        ] as [([UInt8], UInt32)]
    )
    func `Checksums equal the test vectors of RFC 3720`(bytes: [UInt8], checksum: UInt32) {
        #expect(bytes.withUnsafeBytes(CRC32C.checksum) == checksum)
    }

    @Test
    func `Flipping any bit changes the checksum`() {
        let bytes = (0..<41).map { UInt8($0 * 5) }
        let checksum = bytes.withUnsafeBytes(CRC32C.checksum)
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << UInt8(bit)
                #expect(flipped.withUnsafeBytes(CRC32C.checksum) != checksum)
            }
        }
    }
}
