import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Eviction")
struct EvictionTests {
    private let everything = EvictionPolicy(minimumByteCount: 0, fraction: 1)

    private func makeClient(isEager: Bool) throws -> (TestClient<MemoryCache>, ListenerID) {
        var client = TestClient(isEager: isEager)
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(.inC("a"), ["a": .integer(1)], at: 100), to: listener, at: 100)
        return (client, listener)
    }

    @Test
    func `An eager cache forgets documents with their last listener`() throws {
        var (client, listener) = try makeClient(isEager: true)
        client.perform { $0.unlisten(listener) }
        let read = try client.engine.document(at: .inC("a"))
        #expect(read == .unknown)
        #expect(client.engine.cache.byteCount == 0)
    }

    @Test
    func `An eager cache keeps documents with local writes, until their answer`() throws {
        var (client, listener) = try makeClient(isEager: true)
        try client.write(.update(.inC("a"), [(FieldPath("b"), .integer(2))]))
        client.perform { $0.unlisten(listener) }
        guard case .found = try client.engine.document(at: .inC("a")) else {
            Issue.record("Expected the document.")
            return
        }
        try client.acknowledge(at: 200)
        let read = try client.engine.document(at: .inC("a"))
        #expect(read == .unknown)
    }

    @Test
    func `Other caches keep documents, and evict those that nothing needs`() throws {
        var (client, listener) = try makeClient(isEager: false)
        var result = try client.engine.evict(everything)
        #expect(result == EvictionResult())
        client.perform { $0.unlisten(listener) }
        result = try client.engine.evict(EvictionPolicy(minimumByteCount: 1_000_000, fraction: 1))
        #expect(result.documentCount == 0)
        result = try client.engine.evict(everything)
        #expect(result.targetCount == 1)
        #expect(result.documentCount == 1)
    }

    @Test
    func `Queued writes are never evicted`() throws {
        var (client, listener) = try makeClient(isEager: false)
        try client.write(.update(.inC("a"), [(FieldPath("b"), .integer(2))]))
        client.perform { $0.unlisten(listener) }
        _ = try client.engine.evict(everything)
        let read = try client.engine.document(at: .inC("a"))
        guard case .found(let document) = read else {
            Issue.record("Expected the document, found \(read).")
            return
        }
        #expect(document.fields == ["a": .integer(1), "b": .integer(2)])
    }
}
