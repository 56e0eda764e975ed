import DocumentModel
import SyncEngine
import TestSupport
import Testing
import UTF8Text

@testable import SyncCache

@Suite("Slots of persistent caches")
struct SlotTests {
    private let temporary: TemporaryFolder
    private let folder: CacheFolder

    init() throws {
        temporary = try TemporaryFolder()
        folder = CacheFolder(in: temporary.path, server: "https://example.org", database: "(default)", principal: "key-1")
    }

    private func queue(_ slot: CacheSlot) throws {
        var cache = try PersistentCache(folder: slot.path)
        let write = Write(path: RandomContents.path("c/a"), operation: .delete)
        _ = try cache.appendBatch([write], baseValues: [], at: .minimum, for: UserID(nil))
        cache.close()
    }

    @Test
    func `The first free slot is taken, and held while it lives`() throws {
        let first = try folder.takeSlot()
        var second: CacheSlot? = try folder.takeSlot()
        let third = try folder.takeSlot()
        #expect([first.number, second?.number, third.number] == [0, 1, 2])
        second = nil
        let again = try folder.takeSlot()
        #expect(again.number == 1)
        withExtendedLifetime((first, third)) {}
    }

    @Test
    func `A cache holds its slot`() throws {
        let cache = try PersistentCache(slot: folder.takeSlot())
        #expect(try folder.takeSlot().number == 1)
        withExtendedLifetime(cache) {}
    }

    @Test
    func `Free slots with batches are taken to send these`() throws {
        let held = try folder.takeSlot()
        var left: CacheSlot? = try folder.takeSlot()
        var empty: CacheSlot? = try folder.takeSlot()
        for slot in [held, left].compactMap(\.self) { try queue(slot) }
        try PersistentCache(folder: #require(empty?.path)).close()
        (left, empty) = (nil, nil)
        let slots = try folder.takeAbandonedSlots()
        #expect(slots.map(\.number) == [1])
        #expect(try folder.takeAbandonedSlots().isEmpty)
        withExtendedLifetime((held, left, empty)) {}
    }

    @Test
    func `A slot with a damaged queue is taken as well`() throws {
        try queue(folder.takeSlot())
        try temporary.write("This is no database.", to: temporaryPath("0/queue.sqlite"))
        let slots = try folder.takeAbandonedSlots()
        #expect(slots.count == 1)
        let cache = try PersistentCache(folder: slots[0].path)
        #expect(cache.openingReport.queueRecovery != nil)
    }

    private func temporaryPath(_ name: String) -> String {
        String(folder.path.dropFirst(temporary.path.count + 1)) + "/" + name
    }

    @Test
    func `Clearing removes all slots, or none if one is held`() throws {
        var free: CacheSlot? = try folder.takeSlot()
        try queue(#require(free))
        var held: CacheSlot? = try folder.takeSlot()
        try queue(#require(held))
        free = nil
        #expect(try folder.clear() == [1])
        let cache = try PersistentCache(folder: folder.takeSlot().path)
        #expect(try cache.batch(after: 0, for: UserID(nil)) != nil)
        cache.close()
        held = nil
        #expect(try folder.clear().isEmpty)
        #expect(try temporary.names(in: temporaryPath("")) == [])
        withExtendedLifetime((free, held)) {}
    }

    @Test
    func `A folder that does not exist has no slots, and is clear`() throws {
        #expect(try folder.takeAbandonedSlots().isEmpty)
        #expect(try folder.clear().isEmpty)
    }

    @Test
    func `Servers, databases and principals have folders of their own`() {
        let long = String(repeating: "x", count: 5_000)
        let strings = ["", "a", "A", "a/b", "a-b", "..", "é", long, long + "x"]
        var names: Set<String> = []
        for server in strings {
            for database in strings {
                for principal in strings {
                    let name = CacheFolder.name(server: server, database: database, principal: principal)
                    #expect(name.utf8.count <= 110 && !name.contains("/"))
                    names.insert(name.lowercased())
                }
            }
        }
        #expect(names.count == strings.count * strings.count * strings.count)
    }
}
