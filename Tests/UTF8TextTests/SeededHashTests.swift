import Testing
import UTF8Text

@Suite("Seeded hashes")
struct SeededHashTests {
    private static func hash(_ bytes: [UInt8], _ number: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { SeededHash.hash($0, number) }
    }

    @Test(arguments: 0..<20)
    func `Equal bytes at any address have equal hashes`(count: Int) {
        let bytes = (0..<count).map { UInt8($0 * 5 + 1) }
        let padded = [9] + bytes + [9]
        let inner = padded.withUnsafeBytes { SeededHash.hash(UnsafeRawBufferPointer(rebasing: $0[1..<(count + 1)])) }
        #expect(inner == Self.hash(bytes))
    }

    @Test
    func `Flipping any bit, or adding zeros, changes the hash`() {
        let bytes = (0..<21).map { UInt8($0 * 5) }
        var hashes: Set<UInt64> = [Self.hash(bytes)]
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << UInt8(bit)
                hashes.insert(Self.hash(flipped))
            }
        }
        #expect(hashes.count == 1 + 8 * bytes.count)
        #expect(Set((0..<20).map { Self.hash([UInt8](repeating: 0, count: $0)) }).count == 20)
        #expect(Set((0..<100).map { Self.hash(bytes, $0) }).count == 100)
    }
}
