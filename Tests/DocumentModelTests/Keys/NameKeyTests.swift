import DocumentModel
import TestSupport
import Testing

@Suite("Name keys")
struct NameKeyTests {
    /// Names in the order of Firestore's integration tests.
    private let ids = [
        "__id-9223372036854775808__", "__id-2__", "__id7__", "__id12__", "__id9223372036854775807__", "12", "7", "A", "Aa",
        "__id",
        "__id1_", "_id1__", "a",
    ]

    @Test
    func `Keys of IDs compare like IDs, and are decoded`() throws {
        let ids = try ids.map { try DocumentPath.ID($0) }
        #expect(ids == ids.sorted())
        for (left, right) in zip(ids, ids.dropFirst()) {
            #expect(NameKey(left).bytes.lexicographicallyPrecedes(NameKey(right).bytes), "\(left) to \(right)")
        }
        for id in ids { #expect(DocumentPath.ID(nameKey: NameKey(id).bytes) == id) }
    }

    @Test
    func `Keys of paths compare like paths, and are decoded`() throws {
        var random = RandomValues(generator: SeededGenerator())
        let paths = (0..<300).map { _ in random.path() } + [try DocumentPath("a/b\u{1}c"), try DocumentPath("a/b\u{1}")]
        for left in paths {
            #expect(DocumentPath(nameKey: NameKey(left).bytes) == left)
            for right in paths {
                #expect((left < right) == NameKey(left).bytes.lexicographicallyPrecedes(NameKey(right).bytes))
            }
        }
    }

    @Test
    func `The key of a path is that of its collection followed by that of its ID`() throws {
        let path = try DocumentPath("a/b/c/__id1__")
        #expect(NameKey(path).bytes == NameKey(path.collection).bytes + NameKey(path.id).bytes)
        let above = try DocumentPath("a/b")
        #expect(NameKey(path).bytes.starts(with: NameKey(above).bytes))
        #expect(NameKey(path).bytes.lexicographicallyPrecedes(NameKey(above).prefixUpperBound))
        #expect(!NameKey(try DocumentPath("a/bc/c/d")).bytes.lexicographicallyPrecedes(NameKey(above).prefixUpperBound))
    }

    @Test(arguments: [[], [2], [2, 0x61], [1, 0, 0], [3, 0x61, 0], [2, 0xff, 0]] as [[UInt8]])
    func `Invalid keys are rejected`(_ bytes: [UInt8]) {
        #expect(DocumentPath(nameKey: bytes) == nil)
        #expect(DocumentPath.ID(nameKey: bytes) == nil)
    }
}
