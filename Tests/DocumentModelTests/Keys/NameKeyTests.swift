import DocumentModel
import TestSupport
import Testing

@Suite("The keys of names")
struct NameKeyTests {
    /// In order, as Firestore's own integration tests pin it.
    private let ids = [
        "__id-9223372036854775808__", "__id-2__", "__id7__", "__id12__", "__id9223372036854775807__", "12", "7", "A", "Aa",
        "__id",
        "__id1_", "_id1__", "a",
    ]

    @Test("of ids compare as ids do, and can be read back")
    func order() throws {
        let ids = try ids.map { try DocumentID($0) }
        #expect(ids == ids.sorted())
        for (left, right) in zip(ids, ids.dropFirst()) {
            #expect(NameKey(left).bytes.lexicographicallyPrecedes(NameKey(right).bytes), "\(left) to \(right)")
        }
        for id in ids { #expect(DocumentID(nameKey: NameKey(id).bytes) == id) }
    }

    @Test("of paths compare as paths do, and can be read back")
    func paths() throws {
        var random = RandomValues(generator: SeededGenerator())
        let paths = (0..<300).map { _ in random.path() } + [try DocumentPath("a/b\u{1}c"), try DocumentPath("a/b\u{1}")]
        for left in paths {
            #expect(DocumentPath(nameKey: NameKey(left).bytes) == left)
            for right in paths {
                #expect((left < right) == NameKey(left).bytes.lexicographicallyPrecedes(NameKey(right).bytes))
            }
        }
    }

    @Test("of a path are those of its collection and its id")
    func prefixes() throws {
        let path = try DocumentPath("a/b/c/__id1__")
        #expect(NameKey(path).bytes == NameKey(path.collection).bytes + NameKey(path.id).bytes)
        let above = try DocumentPath("a/b")
        #expect(NameKey(path).bytes.starts(with: NameKey(above).bytes))
        #expect(NameKey(path).bytes.lexicographicallyPrecedes(NameKey(above).firstBehindAll))
        #expect(!NameKey(try DocumentPath("a/bc/c/d")).bytes.lexicographicallyPrecedes(NameKey(above).firstBehindAll))
    }

    @Test("that are none are not read", arguments: [[], [2], [2, 0x61], [1, 0, 0], [3, 0x61, 0], [2, 0xff, 0]] as [[UInt8]])
    func damaged(_ bytes: [UInt8]) {
        #expect(DocumentPath(nameKey: bytes) == nil)
        #expect(DocumentID(nameKey: bytes) == nil)
    }
}
