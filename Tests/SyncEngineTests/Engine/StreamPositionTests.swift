import DocumentModel
import SyncEngine
import Testing
import UTF8Text

/// Snapshots that hold for targets which they do not name.
@Suite("Stream positions")
struct StreamPositionTests {
    private let path = DocumentPath.inC("a")
    private let minute: Int64 = 60_000_000
    private var client = TestClient()

    private func otherQuery() throws -> ViewQuery {
        try ViewQuery(StructuredQuery(.collection(CollectionPath("d"))))
    }

    /// Delivers a snapshot that names no target.
    private mutating func move(to time: Int64) throws {
        let event = RemoteEvent(time: try Timestamp(microseconds: time), token: "token \(time)")
        try client.perform { try $0.apply(event) }
    }

    /// The token with which a target is requested.
    private func requestedToken(of listener: ListenerID) throws -> String? {
        let target = try #require(client.engine.target(of: listener))
        return try #require(client.requests[target]).token
    }

    @Test
    mutating func `A target is resumed after the last snapshot, which did not name it`() throws {
        let (first, second) = (try client.listen(to: ViewQuery()), try client.listen(to: otherQuery()))
        try client.deliver(to: first, at: 100, isOfAll: true)
        try client.deliver(to: second, at: 200, isOfAll: true)
        try move(to: 300)
        client.perform { $0.streamClosed() }
        #expect(try requestedToken(of: first) == "token 300" && requestedToken(of: second) == "token 300")
        // The next stream has not come that far for the other one.
        try client.deliver(to: first, at: 400, isOfAll: true)
        client.perform { $0.streamClosed() }
        #expect(try requestedToken(of: first) == "token 400" && requestedToken(of: second) == "token 300")
    }

    @Test
    mutating func `A snapshot does not hold for targets that are not up to date`() throws {
        let (first, second) = (try client.listen(to: ViewQuery()), try client.listen(to: otherQuery()))
        try client.deliver(to: first, at: 100, isOfAll: true)
        let target = try #require(client.engine.target(of: first))
        let reset = RemoteEvent(targets: [target: RemoteEvent.TargetChange(isCurrent: false, isReset: true)])
        try client.perform { try $0.apply(reset) }
        try move(to: 200)
        client.perform { $0.streamClosed() }
        #expect(try requestedToken(of: first) == nil && requestedToken(of: second) == nil)
    }

    @Test
    mutating func `The position of a target that snapshots do not name is saved after minutes, or with its end`() throws {
        let listener = try client.listen(to: ViewQuery())
        let other = try client.listen(to: otherQuery())
        try client.deliver(to: listener, at: minute, isOfAll: true)
        try client.deliver(to: other, at: 2 * minute, isOfAll: true)
        #expect(try client.engine.cache.target(ViewQuery().target)?.token == "token \(minute)")
        try client.deliver(to: other, at: 11 * minute, isOfAll: true)
        #expect(try client.engine.cache.target(ViewQuery().target)?.token == "token \(11 * minute)")
        try move(to: 12 * minute)
        client.perform { $0.unlisten(listener) }
        let cached = try #require(try client.engine.cache.target(ViewQuery().target))
        #expect(try cached.token == "token \(12 * minute)" && cached.snapshotTime == Timestamp(microseconds: 12 * minute))
    }

    @Test
    mutating func `An acknowledged write is no longer pending after a snapshot that does not name its target`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100, isOfAll: true)
        try client.write(.set(path, ["a": .integer(2)]))
        try client.acknowledge(at: 200)
        #expect(try client.last(listener).hasPendingWrites)
        try move(to: 150)
        #expect(try client.last(listener).hasPendingWrites)
        try move(to: 200)
        #expect(try !client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `A document in limbo is read again after a snapshot that does not name its target`() throws {
        let first = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: first, at: 100)
        client.perform { $0.unlisten(first) }
        let listener = try client.listen(to: ViewQuery(where: .field(FieldPath("a"), .greater(.integer(0)))))
        try client.deliver(to: listener, at: 200, isOfAll: true)
        _ = client.takeLimboReads()
        let answer = RemoteEvent(
            time: try Timestamp(microseconds: 250),
            documents: [try RemoteDocument(path, ["a": .integer(1)], at: 100)],
            answeredReads: [path]
        )
        try client.perform { try $0.apply(answer) }
        #expect(client.takeLimboReads().isEmpty)
        try move(to: 300)
        #expect(client.takeLimboReads() == [path])
    }

    @Test
    mutating func `A view that has shown documents of other targets still has a known result`() throws {
        let all = try client.listen(to: ViewQuery())
        let some = try ViewQuery(where: .field(FieldPath("a"), .greater(.integer(0))))
        let listener = try client.listen(to: some)
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100, isOfAll: true)
        try client.deliver(RemoteDocument(path, ["a": .integer(-1)], at: 200), to: all, at: 200, isOfAll: true)
        #expect(try client.last(listener).documents.isEmpty)
        client.perform { $0.streamClosed() }
        // The empty result is known from before, so a listener need not wait for the server.
        let later = try client.listen(to: some)
        #expect(try client.last(later).documents.isEmpty)
    }
}
