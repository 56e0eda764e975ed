import DocumentModel
import SyncCache
import SyncEngine
import TestSupport
import Testing
import UTF8Text

@Suite("A persistent cache and one in memory")
struct ConformanceTests {
    /// Both caches make the same random steps, some of them in transactions that are rolled back, and must have the same contents
    /// after each transaction. The persistent one is closed and opened again now and then.
    @Test(arguments: (0..<12).map { SeededGenerator.currentSeed &+ $0 })
    func `Have the same contents after any steps`(seed: UInt64) throws {
        var contents = RandomContents(random: SeededGenerator(seed: seed))
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var memory = MemoryCache(isEager: false)
        var persistent = try PersistentCache(folder: folder["cache"])
        for round in 0..<60 {
            let steps = try (0..<Int.random(in: 1...4, using: &contents.random)).map { _ in try CacheStep(&contents) }
            if contents.random.chance(20) {
                #expect(throws: StatusError.self) {
                    try persistent.transaction { (cache: inout PersistentCache) throws(StatusError) in
                        for step in steps { try step.apply(to: &cache) }
                        throw StatusError(.aborted, "The transaction is rolled back.")
                    }
                }
            } else {
                try persistent.transaction { (cache: inout PersistentCache) throws(StatusError) in
                    for step in steps { try step.apply(to: &cache) }
                }
                for step in steps { try step.apply(to: &memory) }
            }
            if contents.random.chance(15) {
                if contents.random.chance(50) { try persistent.synchronize() }
                persistent.close()
                persistent = try PersistentCache(folder: folder["cache"])
                #expect(persistent.openingReport == OpeningReport())
            }
            let expected = try CacheContents(&memory)
            let found = try CacheContents(&persistent)
            try #require(found == expected, "Seed \(seed), round \(round), \(steps)")
        }
    }

    @Test
    func `Calls outside of a transaction are one each`() throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var cache = try PersistentCache(folder: folder["cache"])
        let user = UserID("x")
        let write = Write(path: RandomContents.path("c/a"), operation: .delete)
        #expect(try cache.appendBatch([write], baseValues: [], at: .minimum, for: user).number == 1)
        try cache.save([RemoteDocument(path: write.path, content: .unknown, version: .minimum)])
        cache.close()
        cache = try PersistentCache(folder: folder["cache"])
        #expect(try cache.queuedPaths(for: user) == [write.path])
        #expect(try cache.documents(at: [write.path]).count == 1)
    }

    @Test
    func `Numbers are never assigned twice`() throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        let user = UserID(nil)
        let write = Write(path: RandomContents.path("c/a"), operation: .delete)
        let target = SyncTarget.document(write.path)
        var numbers: [[UInt64]] = []
        for _ in 0..<3 {
            var cache = try PersistentCache(folder: folder["cache"])
            let batch = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user)
            try cache.removeBatch(batch.number, for: user)
            let cached = try cache.addTarget(target)
            try cache.removeTarget(cached.id)
            try cache.save([RemoteDocument(path: write.path, content: .missing, version: .minimum)])
            try cache.removeDocuments(at: [write.path])
            try numbers.append([batch.number, cached.id, cache.lastChange, cached.lastUse])
            cache.close()
        }
        #expect(numbers == [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]])
    }

    @Test
    func `The oldest rejected batches are dropped beyond the maximum`() throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var cache = try PersistentCache(folder: folder["cache"])
        try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
            for number in 1...RejectedBatch.maximumCount + 5 {
                let rejected = RejectedBatch(
                    number: UInt64(number),
                    localTime: .minimum,
                    writes: [],
                    code: .notFound,
                    message: ""
                )
                try cache.append(rejected, for: UserID(nil))
            }
        }
        let numbers = try cache.rejectedBatches(for: UserID(nil)).map(\.number)
        #expect(numbers.count == RejectedBatch.maximumCount && numbers.first == 6)
    }

    @Test
    func `Writes that could not be read again are refused`() throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var cache = try PersistentCache(folder: folder["cache"])
        let fields: MapValue = ["a": .string(String(repeating: "a", count: 3 << 20))]
        let write = Write(path: RandomContents.path("c/a"), operation: .replace(fields))
        let error = #expect(throws: StatusError.self) {
            try cache.appendBatch([write], baseValues: [], at: .minimum, for: UserID(nil))
        }
        #expect(error?.code == .invalidArgument)
        #expect(try cache.batch(after: 0, for: UserID(nil)) == nil)
        #expect(!cache.needsReopening)
    }
}
