import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Bundles")
struct BundleTests {
    private static let everything = EvictionPolicy(minimumByteCount: 0, fraction: 1)

    private func bundle(
        at time: Int64,
        _ documents: [RemoteDocument],
        inQuery: Set<DocumentPath> = [],
        _ view: ViewQuery? = nil
    ) throws -> DocumentBundle {
        let time = try Timestamp(microseconds: time)
        let named = NamedQuery(name: "q", readTime: time, definition: Array("{}".utf8))
        return DocumentBundle(
            metadata: BundleMetadata(id: "b", createTime: time, documentCount: documents.count, byteCount: 0),
            queries: view.map { [BundledQuery(named, view: $0)] } ?? [],
            documents: documents.map { BundledDocument($0, queries: inQuery.contains($0.path) ? ["q"] : []) }
        )
    }

    @Test
    func `A document replaces only an older one`() throws {
        var client = TestClient(isEager: false)
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(
            RemoteDocument(.inC("new"), ["n": .integer(1)], at: 300),
            RemoteDocument(.inC("old"), ["n": .integer(1)], at: 100),
            to: listener,
            at: 300
        )
        let documents = try ["new", "old"].map { try RemoteDocument(.inC($0), ["n": .integer(2)], at: 200) }
        try client.perform { try $0.load(bundle(at: 400, documents)) }
        #expect(try client.last(listener).documents.map { $0.fields["n"] } == [.integer(1), .integer(2)])
    }

    @Test(arguments: [true, false])
    func `Documents stay without listeners, until they are evicted with the bundle`(isEager: Bool) throws {
        var client = TestClient(isEager: isEager)
        let first = try bundle(at: 400, [RemoteDocument(.inC("a"), [:], at: 100), RemoteDocument(.inC("b"), [:], at: 100)])
        try client.perform { try $0.load(first) }
        let listener = try client.listen(to: ViewQuery(), isCacheOnly: true)
        #expect(try client.last(listener).documents.count == 2)
        client.perform { $0.unlisten(listener) }
        #expect(try client.engine.hasLoaded(first.metadata))
        #expect(try client.engine.result(of: ViewQuery()).documents.count == 2)

        // A newer bundle takes the place of the older one.
        try client.perform { try $0.load(bundle(at: 500, [RemoteDocument(.inC("a"), [:], at: 100)])) }
        if !isEager { #expect(try client.engine.evict(Self.everything).targetCount > 0) }
        #expect(try client.engine.result(of: ViewQuery()).documents.map(\.path) == (isEager ? [.inC("a")] : []))
        #expect(try client.engine.hasLoaded(first.metadata) == isEager)
    }

    @Test
    func `A listener to a named query begins with its documents, and asks for the changes since then`() throws {
        var client = TestClient(isEager: true)
        let query = try ViewQuery(limit: .first(1))
        let documents = [try RemoteDocument(.inC("a"), [:], at: 100), try RemoteDocument(.inC("b"), [:], at: 100)]
        try client.perform { try $0.load(bundle(at: 400, documents, inQuery: [.inC("b")], query)) }
        #expect(try client.engine.namedQuery("q")?.readTime.microseconds == 400)
        #expect(try client.engine.namedQuery("other") == nil)
        let listener = try client.listen(to: query)
        let target = try #require(client.engine.target(of: listener))
        #expect(client.engine.keys(of: target) == [.inC("b")])
        #expect(client.requests[target]?.token == nil && client.requests[target]?.time?.microseconds == 400)
        #expect(try client.last(listener).documents.count == 1)
        #expect(try client.last(listener).isFromCache)
        // The server no longer has the changes.
        let reset = RemoteEvent(targets: [target: RemoteEvent.TargetChange(isCurrent: false, isReset: true)])
        try client.perform { try $0.apply(reset) }
        client.perform { $0.streamClosed() }
        #expect(client.requests[target]?.token == nil && client.requests[target]?.time == nil)
    }

    @Test
    func `A target that is listened to keeps its documents and token`() throws {
        var client = TestClient(isEager: false)
        let query = try ViewQuery()
        let listener = try client.listen(to: query)
        try client.deliver(RemoteDocument(.inC("a"), [:], at: 100), to: listener, at: 100)
        let target = try #require(client.engine.target(of: listener))
        let documents = [try RemoteDocument(.inC("b"), [:], at: 200)]
        try client.perform { try $0.load(bundle(at: 400, documents, inQuery: [.inC("b")], query)) }
        #expect(client.engine.keys(of: target) == [.inC("a")])
        #expect(client.takeLimboReads() == [.inC("b")])
        client.perform { $0.streamClosed() }
        #expect(client.requests[target]?.token == "token 100")
    }

    @Test
    func `A bundle that cannot be stored leaves nothing behind`() throws {
        let failure = FailureSwitch()
        var client = TestClient(SyncEngine(cache: FailingCache(failure: failure)))
        let bundle = try bundle(at: 400, [RemoteDocument(.inC("a"), [:], at: 100)], inQuery: [.inC("a")], ViewQuery())
        failure.isOn = true
        #expect(throws: StatusError.self) { try client.perform { try $0.load(bundle) } }
        failure.isOn = false
        #expect(try !client.engine.hasLoaded(bundle.metadata))
        #expect(try client.engine.namedQuery("q") == nil)
        #expect(try client.engine.document(at: .inC("a")) == .unknown)
        try client.perform { try $0.load(bundle) }
        #expect(try client.engine.hasLoaded(bundle.metadata))
    }
}
