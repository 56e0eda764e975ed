import DocumentModel
import SyncCache
import SyncEngine
import Testing
import UTF8Text

/// Views with a limit that are refilled from the cache in steps.
@Suite("Refills of views")
struct RefillTests {
    private var client: TestClient<PersistentCache>
    private let query: ViewQuery
    /// A listener to all documents, `x00` to `x29`, and one to the first two of them.
    private let all: ListenerID
    private let limited: ListenerID

    init() throws {
        var settings = SyncEngine<PersistentCache>.Settings()
        settings.maximumRefillCount = 7
        client = TestClient(cache: .inMemory(), settings)
        query = try ViewQuery(orders: [StructuredQuery.Order(.field(FieldPath("n")))], limit: .first(2))
        all = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        var event = RemoteEvent(time: try Timestamp(microseconds: 100))
        event.documents = try (0..<30).map { try Self.document($0, at: 100) }
        event.targets[1] = RemoteEvent.TargetChange(added: Set(event.documents.map(\.path)), isCurrent: true)
        try client.perform { [event] in try $0.apply(event) }
        limited = try client.listen(to: query, includesMetadataChanges: true)
        try client.deliver(Self.document(0, at: 100), Self.document(1, at: 100), to: limited, at: 100)
        #expect(try Self.numbers(client.last(limited)) == [0, 1])
        _ = client.takeEvents()
    }

    private static func id(_ number: Int) -> String { number < 10 ? "x0\(number)" : "x\(number)" }

    private static func path(_ number: Int) -> DocumentPath { .inC(id(number)) }

    private static func document(_ number: Int, at time: Int64) throws -> RemoteDocument {
        try RemoteDocument(path(number), ["n": .integer(Int64(number))], at: time)
    }

    private static func numbers(_ snapshot: ViewSnapshot) -> [Int64] {
        snapshot.documents.compactMap { if case .integer(let n)? = $0.fields["n"] { n } else { nil } }
    }

    private static func changes(_ snapshot: ViewSnapshot) -> [String] {
        snapshot.changes.map { "\($0.kind) \($0.document.path.id.key.string)" }
    }

    /// Makes all steps, and returns their number.
    private mutating func refill() -> Int {
        var count = 0
        while client.engine.needsRefills {
            client.perform { $0.continueRefills() }
            count += 1
        }
        return count
    }

    @Test
    mutating func `Listeners are called after the last step, all of them`() throws {
        client.perform { $0.addSnapshotsInSyncListener(99) }
        _ = client.takeLog()
        try client.write(.delete(Self.path(0)))
        #expect(client.takeEvents().isEmpty)
        #expect(client.takeLog() == ["send 1"])
        #expect(refill() == 4)
        let events = client.takeEvents()
        #expect(events[all]?.map { $0.documents.count } == [29])
        #expect(events[limited]?.map(Self.numbers) == [[1, 2]])
        #expect(events[limited]?.map(Self.changes) == [["removed x00", "added x02"]])
        #expect(client.takeLog().last == "in sync")
    }

    @Test
    mutating func `What changes between the steps is in the result`() throws {
        try client.write(.delete(Self.path(0)))
        client.perform { $0.continueRefills() }
        try client.write(.delete(Self.path(2)))
        try client.write(.set(Self.path(20), ["n": .integer(-1)]))
        client.perform { $0.continueRefills() }
        try client.write(.set(Self.path(20), ["n": .integer(50)]))
        try client.write(.delete(Self.path(1)))
        _ = refill()
        let events = client.takeEvents()
        #expect(events[limited]?.map(Self.numbers) == [[3, 4]])
        // One event for each write.
        #expect(events[all]?.map(\.documents.count) == [29, 28, 28, 28, 27])
    }

    @Test
    mutating func `What is as before raises no event`() throws {
        try client.write(.delete(Self.path(1)))
        client.perform { $0.continueRefills() }
        try client.reject()
        _ = refill()
        let events = client.takeEvents()
        #expect(events[limited] == nil)
        #expect(events[all]?.map(\.documents.count) == [29, 30])
    }

    @Test
    mutating func `A listener that is added meanwhile is called once, with the complete result`() throws {
        try client.write(.delete(Self.path(0)))
        client.perform { $0.continueRefills() }
        let late = try client.listen(to: query)
        let other = try client.listen(to: ViewQuery(document: Self.path(5)))
        #expect(client.takeEvents().isEmpty)
        _ = refill()
        let events = client.takeEvents()
        #expect(events[late]?.map(Self.changes) == [["added x01", "added x02"]])
        #expect(events[other]?.map(Self.numbers) == [[5]])
    }

    @Test
    mutating func `A listener that leaves meanwhile is not called, and holds up no others`() throws {
        try client.write(.delete(Self.path(0)))
        client.perform { $0.unlisten(limited) }
        #expect(!client.engine.needsRefills)
        let events = client.takeEvents()
        #expect(events.keys.sorted() == [all])
        try client.write(.delete(Self.path(1)))
        #expect(client.takeEvents()[all]?.map(\.documents.count) == [28])
    }

    @Test
    mutating func `A view that loses its connection meanwhile tells so with the complete result`() throws {
        try client.write(.delete(Self.path(0)))
        client.perform { $0.disableNetwork() }
        #expect(client.takeEvents().isEmpty)
        _ = refill()
        let snapshot = try client.last(limited)
        #expect(Self.numbers(snapshot) == [1, 2] && snapshot.isFromCache)
        #expect(client.events[limited]?.count == 1)
    }

    @Test
    mutating func `A refill goes on with a cache that takes the place of a damaged one`() throws {
        try client.write(.delete(Self.path(0)))
        client.perform { $0.continueRefills() }
        try client.perform { try $0.replaceCache(with: .inMemory(), keepsNumbers: true) }
        _ = refill()
        #expect(try Self.numbers(client.last(limited)).count == 2)
        #expect(client.cacheErrors.isEmpty)
    }

    @Test
    mutating func `A refill that fails leaves the result short, and listeners are called`() throws {
        try client.write(.delete(Self.path(0)))
        client.engine.cache.close()
        #expect(refill() == 1)
        #expect(try Self.numbers(client.last(limited)) == [1])
        #expect(!client.cacheErrors.isEmpty)
    }

    /// Returns the query of the first documents, with another limit.
    private static func query(limit: Int) throws -> ViewQuery {
        try ViewQuery(orders: [StructuredQuery.Order(.field(FieldPath("n")))], limit: .first(limit))
    }

    @Test
    mutating func `Listeners are called while two views need refills again and again`() throws {
        let other = try client.listen(to: Self.query(limit: 3))
        _ = client.takeEvents()
        for number in 0..<20 {
            // The first document becomes the last one.
            try client.write(.set(Self.path(number), ["n": .integer(Int64(100 + number))]))
            client.perform { $0.continueRefills() }
        }
        let events = client.takeEvents()
        for listener in [all, limited, other] { #expect(events[listener]?.isEmpty == false) }
        _ = refill()
        #expect(try Self.numbers(client.last(limited)) == [20, 21])
        #expect(try Self.numbers(client.last(other)) == [20, 21, 22])
    }

    @Test
    mutating func `What a user has done is shown before another one is current`() throws {
        try client.write(.delete(Self.path(0)))
        try client.perform { try $0.changeUser(to: UserID("x")) }
        #expect(!client.engine.needsRefills)
        let events = client.takeEvents()
        #expect(events[limited]?.map(Self.numbers) == [[1, 2], [0, 1]])
        #expect(events[all]?.map(\.documents.count) == [29, 30])
    }

    @Test
    mutating func `A listener for snapshots in sync that is added meanwhile waits for them`() throws {
        try client.write(.delete(Self.path(0)))
        _ = client.takeLog()
        client.perform { $0.addSnapshotsInSyncListener(99) }
        #expect(client.takeLog().isEmpty)
        _ = refill()
        let log = client.takeLog()
        #expect(log.count { $0 == "in sync" } == 1 && log.last == "in sync")
    }

    @Test
    mutating func `No refill is needed for a document that another one replaces in the same commit`() throws {
        try client.write(.delete(Self.path(0)), .set(Self.path(20), ["n": .integer(-1)]))
        #expect(!client.engine.needsRefills)
        #expect(try Self.numbers(client.last(limited)) == [-1, 1])
        // One behind the edge does not do: another document may precede it.
        try client.write(.delete(Self.path(1)), .set(Self.path(20), ["n": .integer(3)]))
        #expect(client.engine.needsRefills)
    }

    @Test
    mutating func `A listener whose target is interrupted meanwhile gets what the cache has`() throws {
        let waiting = try client.listen(to: Self.query(limit: 3), waitsForSync: true)
        let target = try #require(client.engine.target(of: waiting))
        try client.write(.delete(Self.path(0)))
        client.perform { $0.targetInterrupted(target) }
        #expect(client.takeEvents().isEmpty)
        _ = refill()
        #expect(try Self.numbers(client.last(waiting)) == [1, 2, 3])
    }
}
