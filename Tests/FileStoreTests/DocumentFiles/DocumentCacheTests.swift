import DocumentModel
import Testing

@testable import FileStore
@testable import StorageIO

@Suite("Document cache")
struct DocumentCacheTests {
    private let identity = FileIdentity(inode: 1, size: 2, modifiedSeconds: 3, modifiedNanoseconds: 4)

    private func document(_ id: Int, byteCount: Int = 10, version: Int64 = 1) throws -> EncodedDocument {
        let time = try Timestamp(microseconds: version)
        return EncodedDocument(
            path: try DocumentPath("c/d\(id)"),
            createTime: time,
            updateTime: time,
            fieldsJSON: [UInt8](repeating: 0x20, count: byteCount)
        )
    }

    @Test(
        arguments: zip([64 << 10, 64 << 10, 20 << 20, 64 << 20], [500, 20_000, 20_000, 700_000])
    )
    func `The cache keeps recently used documents up to its size`(maximumBytes: Int, byteCount: Int) throws {
        let cache = DocumentCache(maximumBytes: maximumBytes)
        let count = 2 * maximumBytes / byteCount + 10
        for id in 0..<count { cache.insert(try document(id, byteCount: byteCount), identity: identity) }
        let kept = try (0..<count).compactMap { cache.entry(at: try document($0).path) }
        #expect(kept.reduce(0) { $0 + $1.cost } <= maximumBytes)
        // A shard that just switched generations has half of its size.
        if byteCount <= maximumBytes / 32 {
            #expect(kept.reduce(0) { $0 + $1.cost } > maximumBytes / 4)
            #expect(cache.entry(at: try document(count - 1).path) != nil)
        }
    }

    @Test
    func `A document in use is not evicted by unused ones`() throws {
        let cache = DocumentCache(maximumBytes: 64 << 10)
        let used = try document(0)
        cache.insert(used, identity: identity)
        for id in 1..<2_000 {
            cache.insert(try document(id), identity: identity)
            #expect(cache.entry(at: used.path)?.document == used)
        }
    }

    @Test
    func `A read doesn't replace a later version, but a write does`() throws {
        let cache = DocumentCache(maximumBytes: 64 << 10)
        let path = try DocumentPath("c/d0")
        cache.insertRead(try document(0, version: 2), identity: identity)
        cache.insertRead(try document(0, version: 1), identity: identity)
        #expect(cache.entry(at: path)?.document.updateTime.microseconds == 2)
        cache.insert(try document(0, version: 1), identity: identity)
        #expect(cache.entry(at: path)?.document.updateTime.microseconds == 1)
        cache.remove(path)
        #expect(cache.entry(at: path) == nil)
    }

    @Test(arguments: [0, 64 << 10])
    func `A document that is too large is not cached, and evicts its previous version`(maximumBytes: Int) throws {
        let cache = DocumentCache(maximumBytes: maximumBytes)
        cache.insert(try document(0), identity: identity)
        cache.insert(try document(0, byteCount: maximumBytes / 2), identity: identity)
        #expect(cache.entry(at: try DocumentPath("c/d0")) == nil)
    }
}
