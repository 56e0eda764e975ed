import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("A cache that cannot store")
struct FailingCacheTests {
    private let path = DocumentPath.inC("a")
    private let failure = FailureSwitch()
    private var client: TestClient<FailingCache>

    init() {
        client = TestClient(SyncEngine(cache: FailingCache(failure: failure)))
    }

    @Test
    mutating func `A write that cannot be stored is refused, and neither shown nor sent`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(to: listener, at: 100)
        failure.isOn = true
        #expect(throws: StatusError.self) { try client.write(.set(path, ["a": .integer(1)])) }
        #expect(client.events[listener]?.count == 1)
        #expect(client.sent.isEmpty)
        failure.isOn = false
        try client.write(.set(path, ["a": .integer(2)]))
        #expect(client.sent.map(\.batch.number) == [1])
        #expect(try client.last(listener).documents.map(\.fields) == [["a": .integer(2)]])
    }

    @Test(arguments: [true, false])
    mutating func `An answer that cannot be stored leaves the write pending until it is repeated`(isAcknowledged: Bool) throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(to: listener, at: 100)
        let write = try client.write(.set(path, ["a": .integer(1)]))
        let time = try Timestamp(microseconds: 200)
        let answer: (inout SyncEngine<FailingCache>) throws -> [SyncEffect] = { engine in
            isAcknowledged
                ? try engine.batchAcknowledged(1, BatchResult(commitTime: time, results: [WriteResult(updateTime: time)]))
                : try engine.batchRejected(1, StatusError(.permissionDenied, "The batch is rejected."))
        }
        failure.isOn = true
        #expect(throws: StatusError.self) { try client.perform(answer) }
        #expect(client.completions.isEmpty)
        #expect(try client.last(listener).hasPendingWrites)
        failure.isOn = false
        try client.perform(answer)
        #expect(client.completions[write] == .some(isAcknowledged ? nil : .permissionDenied))
    }

    @Test
    mutating func `A snapshot that cannot be stored changes nothing until it is repeated`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        failure.isOn = true
        #expect(throws: StatusError.self) {
            try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        }
        #expect(client.events[listener] == nil)
        client.perform { $0.streamClosed() }
        #expect(client.requests[1]?.token == nil)
        failure.isOn = false
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        #expect(try client.last(listener).documents.count == 1)
    }

    @Test
    mutating func `A heartbeat stores nothing`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        failure.isOn = true
        try client.deliver(to: listener, at: 200)
        #expect(client.cacheErrors.isEmpty)
    }

    @Test
    mutating func `A listener that cannot read the cache is refused`() throws {
        failure.isOn = true
        #expect(throws: StatusError.self) { try client.listen(to: ViewQuery()) }
        failure.isOn = false
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(to: listener, at: 100)
        #expect(try client.last(listener).documents.isEmpty)
    }

    @Test
    mutating func `A listener leaves even if that cannot be recorded`() throws {
        let listener = try client.listen(to: ViewQuery())
        failure.isOn = true
        client.perform { $0.unlisten(listener) }
        #expect(client.requests.isEmpty)
        #expect(client.cacheErrors.count == 1)
    }

    @Test
    mutating func `Sending again does nothing if the cache fails`() throws {
        for number in 1...3 { try client.write(.set(path, ["n": .integer(Int64(number))])) }
        _ = client.takeSent()
        failure.isOn = true
        #expect(throws: StatusError.self) { try client.perform { try $0.resendBatches() } }
        failure.isOn = false
        client.perform { $0.onlineStateTimerFired() }
        #expect(client.sent.isEmpty)
        #expect(client.engine.batchesInFlight == 3)
        try client.perform { try $0.resendBatches() }
        #expect(client.sent.map(\.batch.number) == [1, 2, 3])
    }
}
