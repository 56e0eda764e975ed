import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Changes of user")
struct UserChangeTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    private mutating func changeUser(to user: String?) throws {
        try client.perform { try $0.changeUser(to: UserID(user)) }
    }

    private mutating func update() throws {
        try client.write(.update(path, [(FieldPath("b"), .integer(2))]))
    }

    @Test
    mutating func `An update of a document that vanished meanwhile no longer applies`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        try update()
        try changeUser(to: "x")
        try client.deliver(RemoteDocument(missing: path, at: 200), removing: [path], to: listener, at: 200)
        try changeUser(to: nil)
        #expect(try client.last(listener).documents.isEmpty)
        let read = try client.engine.document(at: path)
        #expect(read == .missing)
        #expect(client.sent.map(\.batch.number) == [1])
    }

    @Test
    mutating func `An update of a document that appeared meanwhile applies`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try update()
        try changeUser(to: "x")
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        #expect(try client.last(listener).documents.map(\.fields) == [["a": .integer(1)]])
        try changeUser(to: nil)
        #expect(try client.last(listener).documents.map(\.fields) == [["a": .integer(1), "b": .integer(2)]])
        #expect(try client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `A user who is back after a restart sees the effect on what another has read`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        try update()
        try changeUser(to: "x")
        try client.deliver(RemoteDocument(missing: path, at: 200), removing: [path], to: listener, at: 200)
        try client.restart(as: UserID(nil))
        let read = try client.engine.document(at: path)
        #expect(read == .missing)
    }

    @Test
    mutating func `Reads of documents in limbo are repeated for the new user`() throws {
        let first = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: first, at: 100)
        client.perform { $0.unlisten(first) }
        let query = try ViewQuery(where: .field(FieldPath("a"), .greater(.integer(0))))
        let listener = try client.listen(to: query)
        try client.deliver(to: listener, at: 200)
        #expect(client.takeLimboReads() == [path])
        try changeUser(to: "x")
        #expect(client.takeLimboReads() == [path])
    }

    @Test(arguments: [true, false])
    mutating func `A cache that has begun anew shows no update of a lost document`(isStarted: Bool) throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        try update()
        try client.write(.set(.inC("b"), ["c": .integer(3)]))
        client.perform { $0.terminate() }
        client.forgetEffects()
        var cache = client.engine.cache
        cache.removeDocuments(at: [path])
        client.engine = SyncEngine(cache: cache)
        if isStarted { try client.perform { try $0.start() } }
        let read = try client.engine.document(at: path)
        #expect(read == .unknown)
        let again = try client.listen(to: ViewQuery())
        #expect(try client.last(again).documents.map(\.path) == [.inC("b")])
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: again, at: 100)
        #expect(try client.last(again).documents.first?.fields == ["a": .integer(1), "b": .integer(2)])
    }

    @Test(arguments: [true, false])
    func `A listener that requires the server waits for its answer on a new stream`(isUserChange: Bool) throws {
        var client = TestClient(isEager: true)
        let query = try ViewQuery()
        let first = try client.listen(to: query, requiresServer: true)
        try client.deliver(RemoteDocument(.inC("a"), [:], at: 100), to: first, at: 100, isOfAll: true)
        let known = try client.listen(to: query, requiresServer: true)
        #expect(try !client.last(known).isFromCache)
        if isUserChange {
            try client.perform { try $0.changeUser(to: UserID("x")) }
        } else {
            client.perform { $0.streamClosed() }
        }
        let late = try client.listen(to: query, requiresServer: true)
        #expect(client.events[late] == nil)
        // The answer has nothing new.
        try client.deliver(to: first, at: 200, isOfAll: true)
        #expect(try client.last(late).documents.map(\.path) == [.inC("a")])
        #expect(client.events[late]?.count == 1 && client.events[first]?.count == 1)
    }
}
