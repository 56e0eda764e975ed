import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Remote events")
struct RemoteEventTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    private mutating func apply(_ documents: RemoteDocument..., epoch: String? = nil) throws {
        try client.perform { try $0.apply(RemoteEvent(epoch: epoch, documents: documents)) }
    }

    private mutating func fields() throws -> MapValue? {
        guard case .found(let document) = try client.engine.document(at: path) else { return nil }
        return document.fields
    }

    @Test
    mutating func `A document does not go back in time`() throws {
        try apply(RemoteDocument(path, ["v": .integer(2)], at: 200))
        try apply(RemoteDocument(path, ["v": .integer(1)], at: 100))
        #expect(try fields() == ["v": .integer(2)])
        try apply(RemoteDocument(missing: path, at: 150))
        #expect(try fields() == ["v": .integer(2)])
        try apply(RemoteDocument(missing: path, at: 300))
        #expect(try fields() == nil)
    }

    @Test
    mutating func `A document of another history replaces a later one`() throws {
        try apply(RemoteDocument(path, ["v": .integer(2)], at: 200), epoch: "first")
        try apply(RemoteDocument(path, ["v": .integer(1)], at: 100), epoch: "second")
        #expect(try fields() == ["v": .integer(1)])
    }

    @Test
    mutating func `A document of a lost history does not replace one of the current`() throws {
        try apply(RemoteDocument(path, ["v": .integer(2)], at: 200), epoch: "first")
        try apply(RemoteDocument(path, ["v": .integer(1)], at: 100), epoch: "second")
        // A read that was answered before the server was restored.
        try apply(RemoteDocument(path, ["v": .integer(3)], at: 300), epoch: "first")
        #expect(try fields() == ["v": .integer(1)])
    }

    @Test
    mutating func `The outcome of a write in the current history replaces a later document of a lost one`() throws {
        try apply(RemoteDocument(path, ["v": .integer(2)], at: 200), epoch: "first")
        try client.write(.set(path, ["v": .integer(3)]))
        let time = try Timestamp(microseconds: 150)
        let result = BatchResult(commitTime: time, results: [WriteResult(updateTime: time)])
        try client.perform { try $0.batchAcknowledged(1, result, epoch: "second") }
        #expect(try fields() == ["v": .integer(3)])
    }

    @Test(arguments: [false, true])
    mutating func `What the server answers is of the history that a stream has told`(isWrite: Bool) throws {
        let document = try RemoteDocument(path, ["v": .integer(2)], at: 200)
        try apply(RemoteDocument(.inC("b"), ["v": .integer(1)], at: 100), epoch: "first")
        if isWrite {
            try client.write(.set(path, ["v": .integer(2)]))
            try client.acknowledge(at: 200)
        } else {
            try apply(document)
        }
        // A stream that began before.
        try apply(RemoteDocument(path, ["v": .integer(1)], at: 100), epoch: "first")
        #expect(try fields() == ["v": .integer(2)])
    }

    @Test(arguments: [false, true])
    mutating func `A stream that began before an answer does not bring back what was before it`(isWrite: Bool) throws {
        if isWrite {
            try client.write(.set(path, ["v": .integer(2)]))
            let time = try Timestamp(microseconds: 200)
            let result = BatchResult(commitTime: time, results: [WriteResult(updateTime: time)])
            try client.perform { try $0.batchAcknowledged(1, result, epoch: "first") }
        } else {
            try apply(RemoteDocument(path, ["v": .integer(2)], at: 200), epoch: "first")
        }
        try apply(RemoteDocument(path, ["v": .integer(1)], at: 100), epoch: "first")
        #expect(try fields() == ["v": .integer(2)])
    }

    @Test
    mutating func `A document replaces an unknown one of the same version`() throws {
        try apply(RemoteDocument(path: path, content: .unknown, version: Timestamp(microseconds: 200)))
        #expect(try fields() == nil)
        try apply(RemoteDocument(path, ["v": .integer(2)], at: 200))
        #expect(try fields() == ["v": .integer(2)])
    }

    @Test
    mutating func `A complete result removes the other keys of its target`() throws {
        let query = try ViewQuery(where: .field(FieldPath("v"), .greater(.integer(0))))
        let listener = try client.listen(to: query, includesMetadataChanges: true)
        try client.deliver(
            RemoteDocument(path, ["v": .integer(1)], at: 100),
            RemoteDocument(.inC("b"), ["v": .integer(1)], at: 100),
            to: listener,
            at: 100
        )
        let event = RemoteEvent(
            time: try Timestamp(microseconds: 300),
            targets: [1: RemoteEvent.TargetChange(added: [.inC("b")], isComplete: true, isCurrent: true, token: "new")],
            documents: [try RemoteDocument(.inC("b"), ["v": .integer(1)], at: 100)]
        )
        try client.perform { try $0.apply(event) }
        #expect(client.engine.keys(of: 1) == [.inC("b")])
        // The other document may still match, so it is read.
        #expect(client.takeLimboReads() == [path])
        #expect(try client.last(listener).isFromCache)
    }

    @Test
    mutating func `A reset drops the token`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(to: listener, at: 100)
        let event = RemoteEvent(
            time: try Timestamp(microseconds: 200),
            targets: [1: RemoteEvent.TargetChange(isCurrent: false, isReset: true)]
        )
        try client.perform { try $0.apply(event) }
        #expect(try client.last(listener).isFromCache)
        client.perform { $0.streamClosed() }
        #expect(client.requests[1]?.token == nil)
    }

    @Test
    mutating func `A listener to the cache opens no target, and follows others`() throws {
        let cached = try client.listen(to: ViewQuery(), isCacheOnly: true)
        #expect(client.requests.isEmpty)
        #expect(try client.last(cached).documents.isEmpty)
        let other = try client.listen(to: ViewQuery(where: .field(FieldPath("v"), .greater(.integer(0)))))
        try client.deliver(RemoteDocument(path, ["v": .integer(1)], at: 100), to: other, at: 100)
        #expect(try client.last(cached).documents.count == 1)
        #expect(try client.last(cached).isFromCache)
    }

    @Test
    mutating func `A query of the cache is answered with local writes`() throws {
        try apply(RemoteDocument(path, ["v": .integer(1)], at: 100), RemoteDocument(.inC("b"), ["v": .integer(2)], at: 100))
        try client.write(.set(.inC("c"), ["v": .integer(3)]))
        try client.write(.delete(path))
        let byValue = [StructuredQuery.Order(.field(try FieldPath("v")))]
        let result = try client.engine.result(of: ViewQuery(orders: byValue, limit: .last(1)))
        #expect(result.documents.map(\.path) == [.inC("c")])
        let all = try client.engine.result(of: ViewQuery())
        #expect(all.documents.map(\.path) == [.inC("b"), .inC("c")])
        #expect(all.isFromCache)
    }

    @Test
    mutating func `A rejected target ends its listeners with the error`() throws {
        let listener = try client.listen(to: ViewQuery())
        client.perform { $0.targetRejected(1, StatusError(.permissionDenied, "No access.")) }
        #expect(client.failures == [listener: .permissionDenied])
        client.perform { $0.unlisten(listener) }
        #expect(client.engine.target(of: listener) == nil)
    }

    @Test
    mutating func `An answer that lacks a cached version shows that the server has lost it`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(.inC("a"), ["n": .integer(2)], at: 200), to: listener, at: 200)
        let old = try RemoteDocument(.inC("a"), ["n": .integer(1)], at: 100)
        // A read that began before the document changed.
        try client.perform { try $0.apply(RemoteEvent(time: Timestamp(microseconds: 150), documents: [old])) }
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(2)]])
        try client.perform { try $0.apply(RemoteEvent(time: Timestamp(microseconds: 300), documents: [old])) }
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(1)]])
    }
}
