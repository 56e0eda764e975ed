import FirestoreAPI
import Testing

@Suite("Bloom filters")
struct BloomFilterTests {
    private static func name(_ id: String) -> String { "projects/demo/databases/(default)/documents/c/\(id)" }

    @Test
    func `The bits are those of the official clients`() {
        let filter = BloomFilter([Self.name("a"), Self.name("b")], bitCount: 20, hashCount: 7)
        #expect(filter.bitmap == [0x09, 0x77, 0x0F])
        #expect(filter.padding == 4)
        #expect(filter.contains(Self.name("a")))
        for id in ["c", "d", "e", "f"] { #expect(!filter.contains(Self.name(id))) }
    }

    @Test(arguments: [1, 2, 10, 1_000])
    func `A filter contains its names and hardly any others`(count: Int) {
        let filter = BloomFilter((0..<count).map { Self.name("in\($0)") })
        #expect((0..<count).allSatisfy { filter.contains(Self.name("in\($0)")) })
        let others = (0..<10_000).filter { filter.contains(Self.name("out\($0)")) }
        #expect(others.count < 20)
        #expect((0...7).contains(filter.padding))
    }

    @Test
    func `The filter of no names is empty`() {
        let filter = BloomFilter([])
        #expect(filter.bitmap.isEmpty && filter.padding == 0 && filter.hashCount == 0)
        #expect(!filter.contains(Self.name("a")))
    }
}
