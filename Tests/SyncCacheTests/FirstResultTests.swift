import DocumentModel
import SyncCache
import SyncEngine
import Testing
import UTF8Text

/// The documents of a collection of which nothing is known, which are not looked up.
@Suite("The first documents of a collection")
struct FirstResultTests {
    private func document(_ path: String, _ text: String) throws -> RemoteDocument {
        RemoteDocument(
            path: try DocumentPath(path),
            content: .found(["text": .string(text)], createTime: nil),
            version: .minimum
        )
    }

    @Test func `The last version of a document that comes twice is kept, and counted once`() throws {
        var cache = PersistentCache.inMemory()
        try cache.save([document("c/a", "first, and longer"), document("c/b", "b"), document("c/a", "last")])
        let path = try DocumentPath("c/a")
        #expect(try cache.documents(at: [path])[path]?.content == document("c/a", "last").content)
        #expect(try cache.byteCount == document("c/a", "last").byteCount + document("c/b", "b").byteCount)
    }

    @Test func `Documents of a target that were named before they came are not evicted`() throws {
        var cache = PersistentCache.inMemory()
        let target = try cache.addTarget(.query(StructuredQuery(.collection(CollectionPath("c")))))
        let (kept, other) = (try DocumentPath("c/a"), try DocumentPath("c/b"))
        try cache.updateKeys(of: target.id, adding: [kept], removing: [])
        try cache.save([document("c/a", "a"), document("c/b", "b")])
        #expect(try cache.unreferenced([kept, other]) == [other])
        #expect(try cache.unreferencedDocuments(usedThrough: .max) == [other])
    }
}
