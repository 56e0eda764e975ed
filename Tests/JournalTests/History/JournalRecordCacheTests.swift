import DocumentModel
import DocumentStore
import Testing

@testable import Journal

@Suite("Cache of journal records")
struct JournalRecordCacheTests {
    private static func entry(_ number: UInt64, changeCount: Int = 2) throws -> JournalRecordCache.Entry {
        let paths = try (0..<UInt64(changeCount)).map { try DocumentPath("a/\(number + $0)") }
        let changes = paths.map { CommittedChange(path: $0, before: nil, after: nil, existedBefore: true) }
        let time = try Timestamp(microseconds: Int64(number))
        return JournalRecordCache.Entry(Commit(sequence: SequenceNumber(number), time: time, changes: changes))
    }

    private static func location(_ number: UInt64) -> JournalRecordCache.Location {
        JournalRecordCache.Location(segment: SequenceNumber(1), offset: Int(number))
    }

    private static func isCached(_ number: UInt64, in cache: JournalRecordCache) throws -> Bool {
        try cache.entry(at: location(number), time: Timestamp(microseconds: Int64(number))) != nil
    }

    @Test
    func `A commit is found at its location, and its changes by path`() throws {
        let cache = JournalRecordCache(maximumBytes: 1 << 20)
        cache.insert(try Self.entry(7), at: Self.location(7), byteCount: 100)
        let time = try Timestamp(microseconds: 7)
        let found = try #require(cache.entry(at: Self.location(7), time: time))
        #expect(try found.change(to: DocumentPath("a/7"))?.existedBefore == true)
        #expect(try found.change(to: DocumentPath("a/9")) == nil)
        #expect(cache.entry(at: Self.location(8), time: time) == nil)
        // Another commit is there after the journal was truncated.
        #expect(try cache.entry(at: Self.location(7), time: Timestamp(microseconds: 8)) == nil)
        cache.removeAll()
        #expect(cache.entry(at: Self.location(7), time: time) == nil)
    }

    @Test
    func `Commits that were not used for longest are removed beyond the size limit`() throws {
        let cache = JournalRecordCache(maximumBytes: 16 << 20)
        let byteCount = 4 << 20 - 10 << 10
        for number in UInt64(1)...4 { cache.insert(try Self.entry(number), at: Self.location(number), byteCount: byteCount) }
        #expect(try Self.isCached(1, in: cache))
        cache.insert(try Self.entry(5), at: Self.location(5), byteCount: byteCount)
        #expect(try !Self.isCached(2, in: cache))
        #expect(try Self.isCached(1, in: cache) && Self.isCached(5, in: cache))
        cache.insert(try Self.entry(6), at: Self.location(6), byteCount: 17 << 20)
        #expect(try !Self.isCached(6, in: cache))
        #expect(try Self.isCached(5, in: cache))
        // One that takes all of the space.
        cache.insert(try Self.entry(7), at: Self.location(7), byteCount: 15 << 20)
        #expect(try (UInt64(1)...7).filter { try Self.isCached($0, in: cache) } == [7])
    }

    @Test
    func `Deletions, which are small in the journal, are counted with the memory that they take`() throws {
        let cache = JournalRecordCache(maximumBytes: 1 << 20)
        // 20 KB in the journal, but 256 KB in memory.
        for number in stride(from: UInt64(0), to: 30_000, by: 1_000) {
            cache.insert(try Self.entry(number, changeCount: 1_000), at: Self.location(number), byteCount: 20_000)
        }
        let kept = try stride(from: UInt64(0), to: 30_000, by: 1_000).filter { try Self.isCached($0, in: cache) }
        #expect(kept.last == 29_000)
        #expect(kept.count <= 4)
    }

    @Test(.timeLimit(.minutes(10)))
    func `A full cache of many small commits takes no longer for each than an empty one`() throws {
        let cache = JournalRecordCache(maximumBytes: 8 << 20)
        let entry = try Self.entry(1)
        for number in UInt64(0)..<300_000 { cache.insert(entry, at: Self.location(number), byteCount: 200) }
        #expect(cache.entry(at: Self.location(299_999), time: entry.commit.time) != nil)
        #expect(cache.entry(at: Self.location(0), time: entry.commit.time) == nil)
    }
}
