import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Order of effects")
struct EventOrderTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    @Test
    mutating func `A write shows before it is sent`() throws {
        let listener = try client.listen(to: ViewQuery())
        _ = client.takeLog()
        try client.write(.set(path, ["a": .integer(1)]))
        #expect(client.takeLog() == ["raise \(listener)", "send 1"])
    }

    @Test
    mutating func `A rejected write completes before the listeners see it`() throws {
        let listener = try client.listen(to: ViewQuery())
        let write = try client.write(.set(path, ["a": .integer(1)]))
        _ = client.takeLog()
        try client.reject()
        #expect(client.takeLog() == ["complete \(write)", "raise \(listener)"])
    }

    @Test
    mutating func `A plain write is one event, with metadata two, and never three`() throws {
        let plain = try client.listen(to: ViewQuery())
        let metadata = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(to: plain, at: 100)
        try client.write(.set(path, ["a": .integer(1)]))
        try client.acknowledge(at: 200)
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 200), to: plain, at: 200)
        #expect(client.events[plain]?.dropFirst().map { $0.changes.map(\.kind) } == [[.added]])
        #expect(client.events[metadata]?.dropFirst().map { $0.changes.map(\.kind) } == [[.added], [.metadata]])
    }

    @Test
    mutating func `A listener that comes after the answer does not see the document pending`() throws {
        let first = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.write(.set(path, ["a": .integer(1)]))
        try client.acknowledge(at: 200)
        #expect(try client.last(first).hasPendingWrites)
        let second = try client.listen(to: ViewQuery(limit: .first(5)))
        #expect(try !client.last(second).hasPendingWrites)
    }

    @Test(arguments: [true, false])
    mutating func `A write that the stream has passed without its document is no longer pending`(isAnsweredFirst: Bool) throws {
        let query = try ViewQuery(limit: .first(1))
        let listener = try client.listen(to: query, includesMetadataChanges: true)
        try client.deliver(to: listener, at: 100)
        try client.write(.set(path, ["a": .integer(1)]))
        // Another client has deleted the document before the stream came that far.
        if isAnsweredFirst {
            try client.acknowledge(at: 200)
            #expect(try client.last(listener).hasPendingWrites)
            try client.deliver(to: listener, at: 300)
        } else {
            try client.deliver(to: listener, at: 300)
            try client.acknowledge(at: 200)
        }
        #expect(try !client.last(listener).hasPendingWrites)
        #expect(client.takeLimboReads() == [path])
        #expect(try client.last(listener).isFromCache)
    }

    @Test
    mutating func `Listeners are in sync once after each round that raised events`() throws {
        let listener = try client.listen(to: ViewQuery())
        client.perform { $0.addSnapshotsInSyncListener(9) }
        _ = client.takeLog()
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        #expect(client.takeLog().filter { $0 != "stop timer" } == ["raise \(listener)", "in sync"])
        try client.deliver(to: listener, at: 200)
        #expect(client.takeLog().isEmpty)
    }

    @Test
    mutating func `Listeners are in sync once when the client goes offline`() throws {
        let first = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        let second = try client.listen(to: ViewQuery(limit: .first(1)), includesMetadataChanges: true)
        try client.deliver(to: first, at: 100)
        client.perform { $0.addSnapshotsInSyncListener(9) }
        _ = client.takeLog()
        client.perform { $0.disableNetwork() }
        let raised = Set(["raise \(first)", "raise \(second)", "in sync"])
        let log = client.takeLog().filter { raised.contains($0) }
        #expect(log.count == 3)
        #expect(log.last == "in sync")
    }

    @Test
    mutating func `An empty query stays silent until the server has answered or the client is offline`() throws {
        let listener = try client.listen(to: ViewQuery())
        #expect(client.takeLog() == ["start timer", "open 1"])
        client.perform { $0.onlineStateTimerFired() }
        #expect(try client.last(listener).documents.isEmpty)
        #expect(try client.last(listener).isFromCache)
        try client.deliver(to: listener, at: 100)
        // Synced now, but a listener without metadata events is not told.
        #expect(client.events[listener]?.count == 1)
    }

    @Test
    mutating func `An empty result that is known from before shows at once`() throws {
        let first = try client.listen(to: ViewQuery())
        try client.deliver(to: first, at: 100)
        client.perform { $0.unlisten(first) }
        let second = try client.listen(to: ViewQuery())
        #expect(try client.last(second).documents.isEmpty)
        #expect(client.requests[1]?.token == "token 100")
    }

    @Test
    mutating func `A read waits for the server as long as the client may be online`() throws {
        let first = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: first, at: 100)
        client.perform { $0.unlisten(first) }
        let read = try client.listen(to: ViewQuery(), waitsForSync: true)
        #expect(client.events[read] == nil)
        client.perform { $0.streamClosed() }
        #expect(try client.last(read).isFromCache)
        #expect(try client.last(read).documents.count == 1)
    }

    @Test
    mutating func `A break that the next attempt mends shows nothing, a failed attempt shows the cache`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(to: listener, at: 100)
        client.perform { $0.streamClosed() }
        #expect(try !client.last(listener).isFromCache)
        #expect(client.requests[1]?.token == "token 100")
        client.perform { $0.streamClosed() }
        #expect(try client.last(listener).isFromCache)
        try client.deliver(to: listener, at: 200)
        #expect(try !client.last(listener).isFromCache)
    }

    @Test
    mutating func `Nothing is raised after the end`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.write(.set(path, ["a": .integer(1)]))
        _ = client.takeLog()
        client.perform { $0.terminate() }
        #expect(client.takeLog() == ["close 1", "stop sending", "stop timer"])
        #expect(client.events[listener]?.count == 1)
        #expect(client.completions.isEmpty)
    }
}
