import DocumentModel
import Foundation
import GRDB
import SyncEngine
import TestSupport
import Testing
import UTF8Text

@testable import SyncCache

@Suite("The format of a persistent cache")
struct FormatTests {
    /// The files in `Fixtures/format-N` are those that ``makeContents(_:)`` made with version N of the format of `cache.sqlite`:
    /// `HEARTH_CACHE_FIXTURE=DIR` makes those of the current one, which are added with the format.
    @Test(arguments: 1...3)
    func `Files of each format are read`(format: Int) throws {
        if format == 1, let path = ProcessInfo.processInfo.environment["HEARTH_CACHE_FIXTURE"] {
            var cache = try PersistentCache(folder: path)
            try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in try makeContents(&cache) }
            cache.close()
        }
        let folder = try TemporaryFolder()
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/format-\(format)")
        try FileManager.default.copyItem(at: fixture, to: URL(filePath: folder["cache"]))
        var found = try PersistentCache(folder: folder["cache"])
        #expect(found.openingReport == OpeningReport())
        var expected = MemoryCache(isEager: false)
        try makeContents(&expected)
        let (foundContents, expectedContents) = (try CacheContents(&found), try CacheContents(&expected))
        #expect(foundContents == expectedContents)
        found.close()
    }

    private func makeContents(_ cache: inout some LocalCache) throws(StatusError) {
        do {
            var contents = RandomContents(random: SeededGenerator(seed: 1))
            for _ in 0..<150 { try CacheStep(&contents).apply(to: &cache) }
        } catch {
            throw (error as? StatusError) ?? StatusError(.internal, "\(error)")
        }
    }

    @Test
    func `Indexes of format 1 are used, and give way to later ones`() throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var cache = try PersistentCache(folder: folder["cache"])
        let index = try #require(try IndexEntryTests.index(0))
        try cache.addIndexes([index])
        while try cache.fillIndexes(maximumCount: 10) {}
        cache.close()
        let database = try DatabaseQueue(path: folder["cache/cache.sqlite"])
        try database.write {
            for column in ["isRemoved", "lastUse"] { try $0.execute(sql: "ALTER TABLE field_index DROP COLUMN \(column)") }
            for column in ["clockOffset", "serverTime"] { try $0.execute(sql: "ALTER TABLE state DROP COLUMN \(column)") }
            try $0.execute(sql: "PRAGMA user_version = 1")
        }
        try database.close()
        cache = try PersistentCache(folder: folder["cache"])
        #expect(try cache.isComplete(index))
        for number in 1...FieldIndex.maximumCount { try cache.addIndexes([#require(try IndexEntryTests.index(number))]) }
        #expect(try !cache.isComplete(index))
        cache.close()
    }

    @Test(arguments: ["queue.sqlite", "cache.sqlite"])
    func `A file of a newer format is left untouched`(name: String) throws {
        let folder = try TemporaryFolder()
        try PersistentCache(folder: folder["cache"]).close()
        var bytes = try folder.bytes(of: "cache/" + name)
        bytes[63] += 1
        try folder.write(bytes, to: "cache/" + name)
        let error = #expect(throws: StatusError.self) { try PersistentCache(folder: folder["cache"]) }
        #expect(error?.code == .failedPrecondition)
        let format = name == "cache.sqlite" ? 4 : 2
        #expect(error?.message.contains("cache/\(name) has format \(format)") == true)
        #expect(try folder.bytes(of: "cache/" + name) == bytes)
        #expect(try folder.names(in: "cache") == ["cache.sqlite", "queue.sqlite"])
    }

    @Test
    func `All values and writes are read as they were written`() throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var cache = try PersistentCache(folder: folder["cache"])
        var contents = RandomContents(random: SeededGenerator())
        var batches: [MutationBatch] = []
        try #require(contents.random.seed == SeededGenerator.currentSeed)
        for _ in 0..<300 {
            let writes = [try contents.write(), try contents.write()]
            let base = [MutationBatch.BaseValue(path: contents.path(), field: try contents.field(), value: try contents.value())]
            batches.append(try cache.appendBatch(writes, baseValues: base, at: contents.time(), for: UserID(nil)))
        }
        cache.close()
        cache = try PersistentCache(folder: folder["cache"])
        for batch in batches {
            let found = try cache.batch(after: batch.number - 1, for: UserID(nil))
            #expect(found == batch)
        }
    }
}
