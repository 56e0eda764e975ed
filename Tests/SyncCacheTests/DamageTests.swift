import DocumentModel
import Foundation
import SyncEngine
import TestSupport
import Testing
import UTF8Text

@testable import SyncCache

@Suite("Damaged files of a persistent cache", .tags(.crash))
struct DamageTests {
    private let folder: TemporaryFolder
    private let users = [UserID(nil), UserID("x")]
    private var batches: [UserID: [MutationBatch]] = [:]
    private let paths: Set<DocumentPath>

    init() throws {
        folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var cache = try PersistentCache(folder: folder["sound"])
        var contents = RandomContents(random: SeededGenerator())
        paths = Set(try (0..<100).map { try DocumentPath("c/\($0)") })
        for user in users {
            for number in 0..<40 {
                let text = Value.string(String(repeating: "\(number)", count: .random(in: 1...300, using: &contents.random)))
                let write = try Write(path: DocumentPath("c/\(number)"), operation: .patch(["v": text], mask: [FieldPath("v")]))
                batches[user, default: []].append(
                    try cache.appendBatch([write, contents.write()], baseValues: [], at: contents.time(), for: user)
                )
            }
            // Some are decided, so that the file has rows that are no longer valid.
            for number in 1...8 { try cache.removeBatch(UInt64(number), for: user) }
            try cache.recordSent(through: 12, for: user)
            batches[user]?.removeFirst(8)
        }
        let documents = paths.map { path in
            RemoteDocument(path: path, content: .found(["v": .string(path.string)], createTime: nil), version: .minimum)
        }
        try cache.save(documents)
        for user in users { try cache.save([contents.overlay()], for: user) }
        try cache.save(overlayUser: users[0])
        cache.close()
    }

    private static func damages(of size: Int, _ random: inout SeededGenerator) -> [Damage] {
        var damages = (0..<25).map { _ in Damage(offset: .random(in: 0..<size, using: &random), count: 1) }
        // Every field of the header.
        damages += stride(from: 0, to: 100, by: 2).map { Damage(offset: $0, count: 1) }
        damages += (0..<10).map { _ in Damage(offset: .random(in: 0..<size, using: &random), count: 600) }
        // Every page.
        damages += stride(from: 0, to: size, by: 4_096).map { Damage(offset: $0, count: 4_096) }
        return damages
    }

    struct Damage: Sendable {
        let offset: Int
        let count: Int

        func apply(to bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
            var bytes = bytes
            for index in offset..<min(offset + count, bytes.count) {
                bytes[index] ^= UInt8.random(in: 1...255, using: &random)
            }
            return bytes
        }
    }

    /// Opens a copy with a damaged file; `nil` if the file looks like one of a newer format.
    private func open(_ name: String, _ damaged: [UInt8], _ number: Int) throws -> PersistentCache? {
        try folder.copy("sound", to: "\(number)")
        try folder.write(damaged, to: "\(number)/\(name)")
        do throws(StatusError) {
            return try PersistentCache(folder: folder["\(number)"])
        } catch {
            try #require(error.code == .failedPrecondition, "\(error)")
            return nil
        }
    }

    /// Reads all batches in the order of sending, as far as they can be read.
    private func read(_ cache: PersistentCache, _ user: UserID) throws(StatusError) -> [MutationBatch] {
        var found: [MutationBatch] = []
        while let batch = try cache.batch(after: found.last?.number ?? 0, for: user) { found.append(batch) }
        return found
    }

    /// The contents of a batch, which keeps them when it gets another number.
    private struct Batch: Hashable {
        let time: Timestamp
        let writes: [Write]

        init(_ batch: MutationBatch) { (time, writes) = (batch.localTime, batch.writes) }
        init(_ batch: RejectedBatch) { (time, writes) = (batch.localTime, batch.writes) }
    }

    @Test
    func `No batch is changed, none is lost without a report, and the others are taken over`() throws {
        var random = SeededGenerator()
        let sound = try folder.bytes(of: "sound/queue.sqlite")
        var (recovered, lost, doubtful) = (0, 0, 0)
        for (number, damage) in Self.damages(of: sound.count, &random).enumerated() {
            let comment: Comment = "Seed \(random.seed), damage \(number): \(damage)"
            guard var cache = try open("queue.sqlite", damage.apply(to: sound, &random), number) else { continue }
            defer { cache.close() }
            do {
                for user in users { _ = try (read(cache, user), cache.rejectedBatches(for: user)) }
            } catch {
                // Damage that only the checksum of a row shows.
                #expect(error.code == .dataLoss && cache.needsReopening, comment)
                cache.close()
                cache = try PersistentCache(folder: folder["\(number)"])
                #expect(cache.openingReport.queueRecovery != nil, comment)
            }
            var (queuedCount, missingCount) = (0, 0)
            for user in users {
                let queued = try read(cache, user)
                let rejected = try cache.rejectedBatches(for: user)
                queuedCount += queued.count
                #expect(rejected.allSatisfy { $0.code == .unknown })
                let expected = (batches[user] ?? []).map { Batch($0) }
                let found = rejected.map { Batch($0) } + queued.map { Batch($0) }
                // In order, and each once.
                #expect(found == expected.filter { found.contains($0) }, comment)
                missingCount += expected.count - found.count
                // The server refuses a commit after a gap.
                let state = try cache.queueState(for: user)
                #expect(queued.map(\.number) == Array(state.decidedNumber + 1..<state.lastNumber + 1), comment)
                #expect(state.identity.precedingNumber <= state.decidedNumber, comment)
            }
            if let report = cache.openingReport.queueRecovery {
                recovered += report.recoveredCount
                lost += missingCount
                doubtful += report.doubtfulCount
                #expect(report.recoveredCount == queuedCount, comment)
                #expect(report.doubtfulCount <= 32, comment)
                if let count = report.lostCount {
                    #expect(count == missingCount, comment)
                    // Those of a page: without the state of the queue, a page above others may be lost with them.
                    #expect(missingCount <= 30, comment)
                }
                #expect(FileManager.default.fileExists(atPath: report.setAsideFile), comment)
                // The overlays are not taken over.
                #expect(try cache.overlayUser == nil, comment)
            } else {
                #expect(missingCount == 0, comment)
            }
            try goOn(&cache, comment)
        }
        #expect(recovered > 0 && lost > 0 && doubtful > 0, "\(recovered), \(lost), \(doubtful)")
    }

    /// Queues a batch and removes all.
    private func goOn(_ cache: inout PersistentCache, _ comment: Comment) throws {
        for user in users {
            let last = try cache.queueState(for: user).lastNumber
            let write = Write(path: RandomContents.path("c/a"), operation: .delete)
            let batch = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user)
            #expect(batch.number == last + 1, comment)
            for batch in try read(cache, user) { try cache.removeBatch(batch.number, for: user) }
            let state = try cache.queueState(for: user)
            #expect(state.isEmpty && state.byteCount == 0, comment)
        }
        #expect(try cache.documents(at: paths).count == paths.count, comment)
    }

    @Test
    func `A damaged cache is begun anew, and the queue stays`() throws {
        var random = SeededGenerator()
        let sound = try folder.bytes(of: "sound/cache.sqlite")
        var setAsideCount = 0
        for (number, damage) in Self.damages(of: sound.count, &random).enumerated() {
            let comment: Comment = "Seed \(random.seed), damage \(number): \(damage)"
            guard var cache = try open("cache.sqlite", damage.apply(to: sound, &random), number) else { continue }
            defer { cache.close() }
            func use() throws(StatusError) {
                _ = try cache.documents(at: paths)
                try cache.visitDocuments(in: .descendants(of: nil), after: 0) { _ in }
                _ = try cache.useNumber(atFraction: 1, maximumCount: 1_000)
                try cache.save(paths.map { RemoteDocument(path: $0, content: .missing, version: .maximum) })
                try cache.removeDocuments(at: paths)
            }
            do {
                try use()
            } catch {
                #expect(error.code == .dataLoss, comment)
                cache.close()
                cache = try PersistentCache(folder: folder["\(number)"])
                #expect(cache.openingReport.setAsideCache != nil, comment)
                try use()
            }
            if let path = cache.openingReport.setAsideCache {
                setAsideCount += 1
                #expect(FileManager.default.fileExists(atPath: path), comment)
            }
            #expect(cache.openingReport.queueRecovery == nil, comment)
            for user in users { #expect(try read(cache, user) == batches[user], comment) }
        }
        #expect(setAsideCount > 0)
    }

    @Test
    func `At most one damaged cache is kept, and all damaged queues`() throws {
        for _ in 0..<3 {
            for name in ["cache.sqlite", "queue.sqlite"] { try folder.write("This is no database.", to: "sound/\(name)") }
            try PersistentCache(folder: folder["sound"]).close()
        }
        #expect(
            try folder.names(in: "sound") == [
                "cache.sqlite", "cache.sqlite.damaged-3", "queue.sqlite", "queue.sqlite.damaged-1", "queue.sqlite.damaged-2",
                "queue.sqlite.damaged-3",
            ]
        )
    }

    @Test
    func `A recovery that was interrupted before it was complete begins again`() throws {
        try folder.write("This is no database.", to: "sound/queue.sqlite-recovered")
        let cache = try PersistentCache(folder: folder["sound"])
        #expect(try read(cache, users[0]) == batches[users[0]])
        #expect(try cache.overlayUser == users[0])
        #expect(try !folder.names(in: "sound").contains("queue.sqlite-recovered"))
    }

    @Test
    func `A recovery that was interrupted after the damaged file was set aside is finished`() throws {
        try FileManager.default.moveItem(atPath: folder["sound/queue.sqlite"], toPath: folder["sound/queue.sqlite-recovered"])
        // The WAL of the damaged file, which does not belong to the new one.
        try folder.write([UInt8](repeating: 7, count: 10_000), to: "sound/queue.sqlite-wal")
        let cache = try PersistentCache(folder: folder["sound"])
        #expect(try read(cache, users[0]) == batches[users[0]])
    }
}
