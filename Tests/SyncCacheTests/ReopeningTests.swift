import DocumentModel
import Foundation
import SyncEngine
import TestSupport
import Testing
import UTF8Text

@testable import SyncCache

@Suite("A persistent cache that is opened again", .tags(.crash))
struct ReopeningTests {
    private let folder: TemporaryFolder
    private var cache: PersistentCache
    private let user = UserID("x")
    private let documents: [RemoteDocument]

    init() throws {
        folder = try TemporaryFolder(in: TemporaryFolder.memory)
        cache = try PersistentCache(slot: CacheFolder(path: folder.path).takeSlot())
        // More than SQLite keeps in memory.
        let fields: MapValue = ["a": .string(String(repeating: "a", count: 50_000))]
        documents = try (0..<150).map { number in
            let path = try DocumentPath("c/\(number)")
            return RemoteDocument(path: path, content: .found(fields, createTime: nil), version: .minimum)
        }
        try cache.save(documents)
        for document in documents {
            let write = Write(path: document.path, operation: .replace(fields))
            _ = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user)
        }
    }

    private func overwrite(_ name: String, from offset: Int = 0, count: Int? = nil) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: folder["0/" + name]))
        defer { try? file.close() }
        let size = try Int(file.seekToEnd())
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(repeating: 7, count: count ?? size - offset))
    }

    /// Reads all batches in the order of sending.
    private func batchCount(_ cache: PersistentCache) throws(StatusError) -> Int {
        var (count, last) = (0, BatchNumber(0))
        while let batch = try cache.batch(after: last, for: user) { (count, last) = (count + 1, batch.number) }
        return count
    }

    @Test
    func `After damage of the documents it begins anew, with the whole queue`() throws {
        for name in ["cache.sqlite", "cache.sqlite-wal"] { try overwrite(name) }
        let error = #expect(throws: StatusError.self) { try cache.documents(at: Set(documents.map(\.path))) }
        #expect(error?.code == .dataLoss && cache.needsReopening)
        let reopened = try cache.reopened()
        #expect(!reopened.needsReopening && reopened.openingReport.setAsideCache != nil)
        #expect(try reopened.documents(at: Set(documents.map(\.path))).isEmpty)
        #expect(try batchCount(reopened) == documents.count)
    }

    @Test
    mutating func `After damage of the queue it has what could be read`() throws {
        try cache.synchronize()
        try overwrite("queue.sqlite", from: 1 << 21, count: 3 * 4_096)
        let error = #expect(throws: StatusError.self) { try batchCount(cache) }
        #expect(error?.code == .dataLoss)
        let reopened = try cache.reopened()
        let report = try #require(reopened.openingReport.queueRecovery)
        #expect((documents.count - 4..<documents.count).contains(report.recoveredCount))
        #expect(try batchCount(reopened) == report.recoveredCount)
        #expect(try reopened.documents(at: Set(documents.map(\.path))).count == documents.count)
    }

    @Test
    func `A file that has become shorter is damaged`() throws {
        for name in ["cache.sqlite", "cache.sqlite-wal"] { #expect(truncate(folder["0/" + name], 8_192) == 0) }
        let error = #expect(throws: StatusError.self) { try cache.documents(at: Set(documents.map(\.path))) }
        #expect(error?.code == .dataLoss)
        #expect(try batchCount(cache.reopened()) == documents.count)
    }

    @Test(arguments: ["", "0", "0/queue.sqlite"])
    func `Files that were removed are created again, with the queue`(_ removed: String) throws {
        if removed.isEmpty {
            for name in try folder.names() { try folder.remove(name) }
        } else {
            try folder.remove(removed)
        }
        var cache = cache
        // Still the files that were removed.
        let write = Write(path: documents[0].path, operation: .delete)
        _ = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user)
        let error = #expect(throws: StatusError.self) { try cache.synchronize() }
        #expect(error?.code == .unavailable && cache.needsReopening)
        let reopened = try cache.reopened()
        #expect(try batchCount(reopened) == documents.count + 1)
        #expect(!reopened.needsReopening && reopened.openingReport.queueRecovery == nil)
        reopened.close()
        let again = try PersistentCache(folder: folder["0"])
        #expect(try batchCount(again) == documents.count + 1)
        #expect(try !folder.names(in: "0").contains { $0.contains("recovered") || $0.contains("copied") })
    }
}
