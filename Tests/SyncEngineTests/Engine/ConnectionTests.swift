import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("The stream and the connection")
struct ConnectionTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    @Test
    mutating func `A result whose target was closed is from cache, whoever still listens to it`() throws {
        let first = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: first, at: 100)
        let cached = try client.listen(to: ViewQuery(), includesMetadataChanges: true, isCacheOnly: true)
        client.perform { $0.unlisten(first) }
        #expect(try client.last(cached).isFromCache)

        let read = try client.listen(to: ViewQuery(), waitsForSync: true)
        #expect(client.events[read] == nil)
        try client.deliver(RemoteDocument(path, ["a": .integer(2)], at: 200), to: read, at: 200)
        #expect(try client.last(read).documents.map(\.fields) == [["a": .integer(2)]])
        #expect(try !client.last(read).isFromCache)
    }

    @Test
    mutating func `The rejection of the only target stops the timer, and the next attempt has its time`() throws {
        let first = try client.listen(to: ViewQuery())
        let rejection = StatusError(.permissionDenied, "No access.")
        _ = client.takeLog()
        client.perform { $0.targetRejected(1, rejection) }
        #expect(client.takeLog() == ["stop timer", "fail \(first)"])
        #expect(client.engine.onlineState == .unknown)

        let second = try client.listen(to: ViewQuery())
        #expect(client.takeLog() == ["start timer", "open 1"])
        client.perform { $0.streamClosed() }
        #expect(client.engine.onlineState == .offline)
        client.perform { $0.targetRejected(1, rejection) }
        #expect(client.failures[second] == .permissionDenied)
        _ = client.takeLog()
        let third = try client.listen(to: ViewQuery(), waitsForSync: true)
        #expect(client.events[third] == nil)
        #expect(client.takeLog() == ["start timer", "open 1"])
    }

    @Test
    mutating func `A late rejection of a closed target changes nothing`() throws {
        let first = try client.listen(to: ViewQuery())
        let cached = try client.listen(to: ViewQuery(), isCacheOnly: true)
        client.perform { $0.unlisten(first) }
        client.perform { $0.targetRejected(1, StatusError(.permissionDenied, "No access.")) }
        #expect(client.failures[cached] == nil)
        #expect(client.engine.onlineState == .unknown)
    }
}
