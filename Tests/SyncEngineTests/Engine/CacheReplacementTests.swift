import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("An engine whose cache is replaced")
struct CacheReplacementTests {
    private let a = DocumentPath.inC("a")
    private let b = DocumentPath.inC("b")
    private var client = TestClient()

    @Test
    mutating func `What listeners show stays on show, until the server has told what has changed`() throws {
        let listener = try client.listen(to: ViewQuery())
        let documents = try [a, b].map { try RemoteDocument($0, ["n": .integer(1)], at: 100) }
        try client.deliver(documents[0], documents[1], to: listener, at: 100)
        _ = client.takeEvents()
        let previous = try #require(client.requests.values.first)
        try client.perform { try $0.replaceCache(with: MemoryCache(isEager: false), keepsNumbers: true) }
        #expect(client.takeEvents()[listener]?.contains { $0.documents.count != 2 } != true)
        let request = try #require(client.requests.values.first)
        #expect(client.requests.count == 1 && request.token == nil && request.target == previous.target)
        #expect(try client.engine.result(of: ViewQuery()).documents.map(\.path) == [a, b])

        let change = RemoteEvent.TargetChange(added: [a], isComplete: true, isCurrent: true, token: "token")
        let document = try RemoteDocument(a, ["n": .integer(2)], at: 200)
        try client.perform {
            try $0.apply(RemoteEvent(time: Timestamp(microseconds: 200), targets: [request.id: change], documents: [document]))
        }
        #expect(try client.last(listener).documents.map(\.fields["n"]) == [.integer(2), .integer(1)])
        // The server does not count the other one to the target, so it is asked for.
        #expect(client.takeLimboReads() == [b])
        let missing = try RemoteDocument(missing: b, at: 200)
        try client.perform { try $0.apply(RemoteEvent(documents: [missing], answeredReads: [b])) }
        #expect(try client.last(listener).documents.map(\.path) == [a])
    }

    @Test
    mutating func `A write that is acknowledged before the server has told the documents stays on show`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        let document = try RemoteDocument(a, ["n": .integer(0)], at: 100)
        func event(at time: Int64, _ target: TargetID) throws -> RemoteEvent {
            let change = RemoteEvent.TargetChange(added: [a], isComplete: true, isCurrent: true, token: "token \(time)")
            return RemoteEvent(
                time: try Timestamp(microseconds: time),
                epoch: "epoch",
                targets: [target: change],
                documents: [document]
            )
        }
        let first = try event(at: 100, #require(client.engine.target(of: listener)))
        try client.perform { try $0.apply(first) }
        let write = try Write.update(a, [(FieldPath("n"), .integer(1))])
        try client.write(write)
        // Another cache with the same queue.
        var other = TestClient()
        try other.write(write)
        try client.perform { try $0.replaceCache(with: other.engine.cache, keepsNumbers: true) }
        try client.acknowledge(at: 200)
        // The stream began before the write.
        let second = try event(at: 150, #require(client.engine.target(of: listener)))
        try client.perform { try $0.apply(second) }
        let last = try client.last(listener)
        #expect(last.documents.map(\.fields["n"]) == [.integer(1)])
        #expect(last.hasPendingWrites)
    }

    @Test
    mutating func `Without the numbers of the batches, callers end, and listeners show no lost writes`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(a, ["n": .integer(1)], at: 100), to: listener, at: 100)
        let write = try client.write(.set(b, ["n": .integer(1)]))
        #expect(try client.last(listener).documents.map(\.path) == [a, b])
        let wait = client.nextID()
        try client.perform { try $0.waitForPendingWrites(wait) }
        try client.perform { try $0.replaceCache(with: MemoryCache(isEager: false), keepsNumbers: false) }
        #expect(client.completions[write] == .some(.unknown))
        #expect(client.endedWaits[wait] == .some(nil))
        #expect(client.sent.isEmpty)
        #expect(try client.last(listener).documents.map(\.path) == [a])
        try client.write(.set(b, ["n": .integer(2)]))
        #expect(client.sent.map(\.batch.number) == [1])
    }

    @Test
    mutating func `A rejected batch is queued again once`() throws {
        try client.write(.update(a, [(FieldPath("n"), .integer(1))]))
        try client.restart()
        try client.reject(.notFound)
        #expect(client.rejections == [1: .notFound])
        for _ in 0..<2 { try client.perform { try $0.resendRejectedBatch(1, at: .minimum) } }
        #expect(client.sent.map(\.batch.number) == [2])
        #expect(try client.engine.rejectedBatches().isEmpty)
    }
}
