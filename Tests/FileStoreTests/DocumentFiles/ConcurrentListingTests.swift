import DocumentModel
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Listing during writes")
struct ConcurrentListingTests {
    @Test
    func `A collection stays listed while its only document is replaced`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            try await store.set("c/a/b/only", [:])
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { () throws in
                    for round in 0..<100 { try await store.set("c/a/b/only", ["n": .integer(Int64(round))]) }
                }
                group.addTask { () throws in
                    for _ in 0..<50 {
                        #expect(try await store.collections() == ["c"])
                        #expect(try await store.list("c", includingMissing: true).ids == ["(a)"])
                        #expect(try await store.list("c/a/b").ids == ["only"])
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `The apply log returns exactly the changes during a listing`() throws {
        let log = ApplyLog()
        let paths = try (0..<5).map { try DocumentPath("c/d\($0)") }
        log.beginBatch([paths[0]])
        log.endBatch()
        log.beginBatch([paths[1]])
        let (_, changed) = try log.trackingChanges { () throws(StatusError) in
            log.endBatch()
            log.beginBatch([paths[2]])
            log.endBatch()
            let (_, inner) = try log.trackingChanges { () throws(StatusError) in log.beginBatch([paths[3]]) }
            #expect(inner == [paths[3]])
        }
        #expect(changed == Set(paths[1...3]))
        log.endBatch()
        #expect(try log.trackingChanges { () throws(StatusError) in }.changed.isEmpty)
    }

    @Test
    func `The apply log is pruned even if listings overlap continuously`() throws {
        let log = ApplyLog()
        let path = try DocumentPath("c/d")
        var listings: [ApplyLog.Listing] = [log.begin()]
        for _ in 0..<100 {
            listings.append(log.begin())
            log.beginBatch([path])
            log.endBatch()
            #expect(log.end(listings.removeFirst()) == [path])
            #expect(log.batchCount <= 2)
        }
    }
}
