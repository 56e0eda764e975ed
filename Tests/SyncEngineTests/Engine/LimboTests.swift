import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Documents in limbo")
struct LimboTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    /// Makes a listener whose target no longer has a cached document.
    private mutating func makeListenerWithLimbo() throws -> ListenerID {
        let first = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: first, at: 100)
        client.perform { $0.unlisten(first) }
        let query = try ViewQuery(where: .field(FieldPath("a"), .greater(.integer(0))))
        let listener = try client.listen(to: query, includesMetadataChanges: true)
        try client.deliver(to: listener, at: 200)
        return listener
    }

    private mutating func answer(_ documents: RemoteDocument..., inaccessible: Set<DocumentPath> = [], at time: Int64) throws {
        let event = RemoteEvent(
            time: try Timestamp(microseconds: time),
            documents: documents,
            answeredReads: [path],
            inaccessible: inaccessible
        )
        try client.perform { try $0.apply(event) }
    }

    @Test
    mutating func `A document that its target no longer has is read, and the view is from cache until the answer`() throws {
        let listener = try makeListenerWithLimbo()
        #expect(client.takeLimboReads() == [path])
        #expect(try client.last(listener).isFromCache)
        try answer(RemoteDocument(missing: path, at: 250), at: 250)
        #expect(try client.last(listener).documents.isEmpty)
        #expect(try !client.last(listener).isFromCache)
        #expect(client.engine.limboDocuments.isEmpty)
    }

    @Test
    mutating func `A document that no longer matches leaves the view`() throws {
        let listener = try makeListenerWithLimbo()
        try answer(RemoteDocument(path, ["a": .integer(-1)], at: 150), at: 250)
        #expect(try client.last(listener).documents.isEmpty)
        #expect(try !client.last(listener).isFromCache)
    }

    @Test
    mutating func `A document that the user may not read leaves view and cache`() throws {
        let listener = try makeListenerWithLimbo()
        try answer(inaccessible: [path], at: 250)
        #expect(try client.last(listener).documents.isEmpty)
        let read = try client.engine.document(at: path)
        #expect(read == .unknown)
    }

    @Test
    mutating func `A document that still matches is read again when its target has gone on`() throws {
        let listener = try makeListenerWithLimbo()
        _ = client.takeLimboReads()
        try answer(RemoteDocument(path, ["a": .integer(1)], at: 100), at: 250)
        #expect(client.takeLimboReads().isEmpty)
        #expect(try client.last(listener).isFromCache)
        try client.deliver(to: listener, at: 300)
        #expect(client.takeLimboReads() == [path])
        // The target brings it after all.
        try client.deliver(RemoteDocument(path, ["a": .integer(2)], at: 400), to: listener, at: 400)
        #expect(try !client.last(listener).isFromCache)
        #expect(client.engine.limboDocuments.isEmpty)
    }

    @Test
    mutating func `Reads wait for each other beyond the limit`() throws {
        var settings = SyncEngine<MemoryCache>.Settings()
        settings.maximumLimboReads = 2
        client = TestClient(SyncEngine(cache: MemoryCache(isEager: false), settings: settings))
        let first = try client.listen(to: ViewQuery())
        for id in ["a", "b", "c"] {
            try client.deliver(RemoteDocument(.inC(id), ["a": .integer(1)], at: 100), to: first, at: 100)
        }
        client.perform { $0.unlisten(first) }
        let query = try ViewQuery(where: .field(FieldPath("a"), .greater(.integer(0))))
        let listener = try client.listen(to: query, includesMetadataChanges: true)
        try client.deliver(to: listener, at: 200)
        #expect(client.takeLimboReads() == [.inC("a"), .inC("b")])
        #expect(client.engine.waitingLimboDocuments == [.inC("c")])
        try answer(RemoteDocument(missing: path, at: 250), at: 250)
        #expect(client.takeLimboReads() == [.inC("c")])
    }

    @Test
    mutating func `Reads that are under way when the network is disabled are repeated`() throws {
        _ = try makeListenerWithLimbo()
        _ = client.takeLimboReads()
        client.perform { $0.disableNetwork() }
        try client.perform { try $0.enableNetwork() }
        #expect(client.takeLimboReads() == [path])
    }

    @Test
    mutating func `A document with a local write is not in limbo`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.write(.set(path, ["a": .integer(1)]))
        try client.deliver(to: listener, at: 100)
        #expect(client.takeLimboReads().isEmpty)
        #expect(try !client.last(listener).isFromCache)
    }
}
