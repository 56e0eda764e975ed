import DocumentModel
import Foundation
import SyncEngine
import TestSupport
import Testing
import UTF8Text

@testable import SyncCache

@Suite("Transactions of a persistent cache")
struct TransactionTests {
    private let folder: TemporaryFolder
    private var cache: PersistentCache
    private let user = UserID("x")
    private let write = Write(path: RandomContents.path("c/a"), operation: .replace(["a": .integer(1)]))

    init() throws {
        folder = try TemporaryFolder(in: TemporaryFolder.memory)
        cache = try PersistentCache(folder: folder["cache"])
        // The state of a new queue.
        _ = try cache.queueState(for: user)
    }

    private func size(_ name: String) throws -> Int {
        try folder.bytes(of: "cache/" + name).count
    }

    @Test
    mutating func `One that changes nothing writes nothing`() throws {
        let sizes = try (size("queue.sqlite-wal"), size("cache.sqlite-wal"))
        try cache.synchronize()
        let count = cache.synchronizationCount
        try cache.transaction { [user, write] (cache: inout PersistentCache) throws(StatusError) in
            _ = try cache.queueState(for: user)
            _ = try cache.documents(at: [write.path])
            try cache.removeOverlays(at: [write.path], for: user)
            try cache.removeDocuments(at: [write.path])
            try cache.recordSent(through: 0, for: user)
            _ = try cache.target(.document(write.path))
        }
        try cache.synchronize()
        #expect(try sizes == (size("queue.sqlite-wal"), size("cache.sqlite-wal")))
        #expect(cache.synchronizationCount == count)
    }

    @Test
    mutating func `One sync serves any number of transactions`() throws {
        try cache.synchronize()
        let count = cache.synchronizationCount
        for _ in 0..<50 { _ = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user) }
        try cache.synchronize()
        try cache.synchronize()
        #expect(cache.synchronizationCount == count + 1)
        // The server's documents need no sync.
        try cache.save([RemoteDocument(path: write.path, content: .missing, version: .minimum)])
        try cache.synchronize()
        #expect(cache.synchronizationCount == count + 1)
    }

    @Test
    mutating func `A power cut loses only what was not synced`() throws {
        for _ in 0..<5 { _ = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user) }
        try cache.synchronize()
        let synchronizedSize = try size("queue.sqlite-wal")
        for _ in 0..<5 { _ = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user) }
        let written = try folder.bytes(of: "cache/queue.sqlite-wal")
        var random = SeededGenerator()
        for number in 0..<30 {
            // Blocks that were not written may be missing, or zero.
            let length = Int.random(in: synchronizedSize...written.count, using: &random)
            let rest = [UInt8](repeating: 0, count: random.chance(50) ? written.count - length : 0)
            try folder.copy("cache", to: "\(number)")
            try folder.write(written.prefix(length) + rest, to: "\(number)/queue.sqlite-wal")
            var cut = try PersistentCache(folder: folder["\(number)"])
            #expect(cut.openingReport == OpeningReport(), "Seed \(random.seed)")
            let last = try cut.queueState(for: user).lastNumber
            #expect((5...10).contains(last), "Seed \(random.seed)")
            for number in 0..<last { #expect(try cut.batch(after: number, for: user)?.number == number + 1) }
            #expect(try cut.batch(after: last, for: user) == nil)
            cut.close()
        }
    }

    @Test
    mutating func `What another process has left is synced, too`() throws {
        _ = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user)
        try folder.copy("cache", to: "killed")
        var killed = try PersistentCache(folder: folder["killed"])
        #expect(killed.openingReport == OpeningReport())
        try killed.synchronize()
        #expect(killed.synchronizationCount == 1)
        #expect(try killed.batch(after: 0, for: user)?.writes == [write])
    }

    @Test
    func `Folders and files are for their owner alone`() throws {
        func mode(_ path: String) throws -> Int {
            try #require(FileManager.default.attributesOfItem(atPath: folder[path])[.posixPermissions] as? Int)
        }
        #expect(try mode("cache") == 0o700)
        for name in try folder.names(in: "cache") { #expect(try mode("cache/" + name) == 0o600, "\(name)") }
        #expect(try folder.names(in: "cache") == ["cache.sqlite", "cache.sqlite-wal", "queue.sqlite", "queue.sqlite-wal"])
    }

    @Test
    func `A folder that is open cannot be opened again`() throws {
        let error = #expect(throws: StatusError.self) { try PersistentCache(folder: folder["cache"]) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("in use") == true)
    }
}

@Suite("A persistent cache of which one file cannot be written", .tags(.crash))
struct HalfWrittenTests {
    private static let user = UserID(nil)
    private static let write = Write(path: RandomContents.path("c/a"), operation: .delete)

    /// Opens a cache, and lets its process write `queue.sqlite` alone: files may not become longer than the WAL of `cache.sqlite` is.
    private static func open(_ folder: String) throws -> PersistentCache {
        var cache = try PersistentCache(folder: folder)
        let fields: MapValue = ["a": .string(String(repeating: "a", count: 500_000))]
        try cache.save([
            RemoteDocument(path: RandomContents.path("c/b"), content: .found(fields, createTime: nil), version: .minimum)
        ])
        _ = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/cache.sqlite-wal")
        let size = try #require(attributes[.size] as? UInt)
        try setFileSizeLimit(size)
        return cache
    }

    private static func setFileSizeLimit(_ size: UInt?) throws {
        signal(SIGXFSZ, SIG_IGN)
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
        limits.rlim_cur = size ?? limits.rlim_max
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits) == 0)
    }

    /// Expects a document at the path of the writes.
    private static func expect(_ isStored: Bool, _ lastNumber: UInt64, _ cache: inout PersistentCache) throws {
        let documents = try cache.documents(at: [write.path])
        #expect(documents.isEmpty == !isStored)
        let state = try cache.queueState(for: user)
        #expect(state.lastNumber == lastNumber)
        #expect(state.decidedNumber == 0)
    }

    private static func transact(
        _ cache: inout PersistentCache,
        _ body: (inout PersistentCache) throws(StatusError) -> Void
    ) throws(StatusError) {
        try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
            try body(&cache)
            try cache.save([RemoteDocument(path: write.path, content: .unknown, version: .minimum)])
        }
    }

    @Test
    func `A new batch is stored in the queue, which comes first`() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            var cache = try Self.open(path)
            let error = #expect(throws: StatusError.self) {
                try Self.transact(&cache) { (cache) throws(StatusError) in
                    _ = try cache.appendBatch([Self.write], baseValues: [], at: .minimum, for: Self.user)
                }
            }
            #expect(error?.code == .unavailable || error?.code == .resourceExhausted)
            #expect(error?.message.contains("cache.sqlite") == true)
            try Self.expect(false, 2, &cache)
            try Self.setFileSizeLimit(nil)
            try Self.transact(&cache) { _ in }
            try Self.expect(true, 2, &cache)
        }
    }

    @Test
    func `A batch stays in the queue if its outcome cannot be stored, which comes first`() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            var cache = try Self.open(path)
            #expect(throws: StatusError.self) {
                try Self.transact(&cache) { (cache) throws(StatusError) in try cache.removeBatch(1, for: Self.user) }
            }
            try Self.expect(false, 1, &cache)
            try Self.setFileSizeLimit(nil)
            try Self.transact(&cache) { (cache) throws(StatusError) in try cache.removeBatch(1, for: Self.user) }
            let batch = try cache.batch(after: 0, for: Self.user)
            #expect(batch == nil)
        }
    }
}

/// Failures of the system.
@Suite("A persistent cache on a disk that fails", .tags(.crash), .enabled(if: TmpfsVolume.isAvailable, "Mounting takes root"))
struct FailingDiskTests {
    private let user = UserID(nil)

    private func write(_ number: Int, byteCount: Int = 10) -> Write {
        Write(path: RandomContents.path("c/a"), operation: .replace(["a": .string(String(repeating: "a", count: byteCount))]))
    }

    @Test
    func `A transaction on a full disk is rolled back, and later ones succeed`() async throws {
        try await TmpfsVolume.with(size: "2m") { volume in
            var cache = try PersistentCache(folder: volume.folder.appending(path: "cache").path)
            _ = try cache.appendBatch([write(1)], baseValues: [], at: .minimum, for: user)
            try volume.fill()
            let error = #expect(throws: StatusError.self) {
                try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
                    for number in 0..<100 {
                        let write = write(number, byteCount: 20_000)
                        _ = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user)
                    }
                }
            }
            #expect(error?.code == .resourceExhausted)
            #expect(error?.message.contains("queue.sqlite") == true)
            #expect(try cache.queueState(for: user).lastNumber == 1)
            try FileManager.default.removeItem(at: volume.folder.appending(path: "ballast"))
            #expect(try cache.appendBatch([write(2)], baseValues: [], at: .minimum, for: user).number == 2)
            try cache.synchronize()
            cache.close()
            cache = try PersistentCache(folder: volume.folder.appending(path: "cache").path)
            #expect(try cache.queueState(for: user).lastNumber == 2)
            cache.close()
        }
    }

    @Test
    func `A folder that cannot be written is reported with its path`() async throws {
        try await TmpfsVolume.with(size: "2m") { volume in
            let path = volume.folder.appending(path: "cache").path
            try PersistentCache(folder: path).close()
            try volume.remount("ro")
            for folder in [path, volume.folder.appending(path: "new").path] {
                let error = #expect(throws: StatusError.self) { try PersistentCache(folder: folder) }
                #expect(error?.code == .unavailable)
                #expect(error?.message.contains(folder) == true)
            }
        }
    }

    @Test
    func `A cache without files works like one with files`() throws {
        let user = UserID("x")
        var cache = PersistentCache.inMemory()
        let path = RandomContents.path("c/a")
        let batch = try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
            let writes = [Write(path: path, operation: .replace(["n": .integer(1)]))]
            let batch = try cache.appendBatch(writes, baseValues: [], at: .minimum, for: user)
            try cache.save([RemoteDocument(path: path, content: .missing, version: .minimum)])
            return batch
        }
        try cache.synchronize()
        #expect(try cache.batch(after: 0, for: user) == batch)
        #expect(try cache.documents(at: [path])[path]?.content == .missing)
        cache.close()
    }
}
