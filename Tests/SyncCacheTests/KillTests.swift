import DocumentModel
import Foundation
import SyncEngine
import TestSupport
import Testing
import UTF8Text

@testable import SyncCache

@Suite("A process with a persistent cache that is killed", .tags(.crash, .slow))
struct KillTests {
    private static let user = UserID("x")

    /// The document that each transaction with a new batch saves, with the number of the batch.
    private static let added = RandomContents.path("c/added")
    /// The document that each transaction that removes a batch saves, with the number of the batch.
    private static let removed = RandomContents.path("c/removed")

    private static func writes(_ number: UInt64) -> [Write] {
        let text = String(repeating: "\(number) ", count: Int(number % 500))
        return [Write(path: RandomContents.path("c/\(number % 7)"), operation: .replace(["v": .string(text)]))]
    }

    private static func number(_ document: RemoteDocument?) -> UInt64 {
        guard case .found(let fields, _)? = document?.content, case .integer(let number)? = fields["n"] else { return 0 }
        return UInt64(number)
    }

    /// Appends and removes batches until the process is killed, and records in a file which ones are durable.
    private static func work(in folder: String, milliseconds: Int) throws {
        let log = open(folder + "/synchronized", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        var cache = try PersistentCache(folder: folder + "/cache")
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { kill(getpid(), SIGKILL) }
        while true {
            var last: UInt64 = 0
            for _ in 0..<3 {
                last = try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
                    let number = try cache.queueState(for: user).lastNumber + 1
                    let batch = try cache.appendBatch(writes(number), baseValues: [], at: .minimum, for: user)
                    try cache.save([document(added, batch.number)])
                    return batch.number
                }
            }
            try cache.synchronize()
            _ = withUnsafeBytes(of: last) { pwrite(log, $0.baseAddress, $0.count, 0) }
            for _ in 0..<2 {
                try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
                    guard let batch = try cache.batch(after: 0, for: user) else { return }
                    try cache.removeBatch(batch.number, for: user)
                    try cache.save([document(removed, batch.number)])
                }
            }
        }
    }

    private static func document(_ path: DocumentPath, _ number: UInt64) -> RemoteDocument {
        RemoteDocument(path: path, content: .found(["n": .integer(Int64(number))], createTime: nil), version: .minimum)
    }

    @Test
    func `Leaves a prefix of its transactions in both files, with all that was durable`() async throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator()
        var counts: [UInt64] = []
        // The last batch, and the batch of the last stored document, before a process begins.
        var (last, stored) = (UInt64(0), UInt64(0))
        for _ in 0..<12 {
            let milliseconds = Int.random(in: 0...150, using: &random)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = folder.path as String, milliseconds = milliseconds as Int] in
                try Self.work(in: path, milliseconds: milliseconds)
            }
            let log = try folder.exists("synchronized") ? folder.bytes(of: "synchronized") : []
            let synchronized = log.reversed().reduce(0) { $0 << 8 | UInt64($1) }
            var cache = try PersistentCache(folder: folder["cache"])
            #expect(cache.openingReport == OpeningReport())
            let state = try cache.queueState(for: Self.user)
            #expect(state.lastNumber >= synchronized)
            var number = state.decidedNumber
            while let batch = try cache.batch(after: number, for: Self.user) {
                #expect(batch.number == number + 1)
                #expect(batch.writes == Self.writes(batch.number))
                number = batch.number
            }
            #expect(number == state.lastNumber)
            let documents = try cache.documents(at: [Self.added, Self.removed])
            // A batch is stored before its document: the last one of the process may lack it. The one before has it, or is that of an
            // earlier process.
            let added = Self.number(documents[Self.added])
            #expect(added == state.lastNumber || added == (state.lastNumber > last + 1 ? state.lastNumber - 1 : stored))
            // A batch is removed after its document is stored, by the same process or the next one.
            #expect([0, 1].contains(Self.number(documents[Self.removed]) - state.decidedNumber))
            (last, stored) = (state.lastNumber, added)
            counts.append(state.lastNumber)
            cache.close()
        }
        #expect(counts == counts.sorted() && (counts.last ?? 0) > 0)
    }

    @Test
    func `Finds the slots of another one held`() async throws {
        let folder = try TemporaryFolder()
        let base = CacheFolder(path: folder["base"])
        let slot = try base.takeSlot()
        var cache = try PersistentCache(slot: slot)
        _ = try cache.appendBatch(Self.writes(1), baseValues: [], at: .minimum, for: Self.user)
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let base = CacheFolder(path: path + "/base")
            let abandoned = try base.takeAbandonedSlots()
            #expect(abandoned.isEmpty)
            let held = try base.clear()
            #expect(held == [0])
            let slot = try base.takeSlot()
            #expect(slot.number == 1)
            // Without a slot, the lock of SQLite keeps the process away.
            #expect(throws: StatusError.self) { try PersistentCache(folder: path + "/base/0") }
        }
        #expect(try cache.batch(after: 0, for: Self.user)?.number == 1)
    }

    @Test
    func `Leaves a slot that another one takes`() async throws {
        let folder = try TemporaryFolder()
        let base = CacheFolder(path: folder["base"])
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let slot = try CacheFolder(path: path + "/base").takeSlot()
            var cache = try PersistentCache(folder: slot.path)
            _ = try cache.appendBatch(Self.writes(1), baseValues: [], at: .minimum, for: Self.user)
            kill(getpid(), SIGKILL)
        }
        let slots = try base.takeAbandonedSlots()
        let slot = try #require(slots.first)
        #expect(slots.count == 1 && slot.number == 0)
        let cache = try PersistentCache(folder: slot.path)
        #expect(try cache.batch(after: 0, for: Self.user)?.writes == Self.writes(1))
    }
}
