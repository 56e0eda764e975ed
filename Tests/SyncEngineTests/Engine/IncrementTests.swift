import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Increments in the queue")
struct IncrementTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    private func increment(by amount: Int64 = 1) throws -> Write {
        let field = try FieldPath("n")
        return try .update(path, [], transforms: [FieldTransform(field: field, operation: .increment(.integer(amount)))])
    }

    @Test
    mutating func `An increment that the stream delivers before the answer does not count twice`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(RemoteDocument(path, ["n": .integer(10)], at: 100), to: listener, at: 100)
        try client.write(increment())
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(11)]])

        try client.deliver(RemoteDocument(path, ["n": .integer(11)], at: 200), to: listener, at: 200)
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(11)]])
        #expect(try client.last(listener).hasPendingWrites)

        try client.acknowledge(at: 200, [.integer(11)])
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(11)]])
        #expect(try !client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `Queued increments build on each other`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["n": .integer(10)], at: 100), to: listener, at: 100)
        for _ in 0..<3 { try client.write(increment()) }
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(13)]])

        try client.acknowledge(at: 200, [.integer(11)])
        try client.deliver(RemoteDocument(path, ["n": .integer(11)], at: 200), to: listener, at: 200)
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(13)]])
    }

    @Test
    mutating func `An earlier answer does not count a later increment twice that the stream has delivered`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["n": .integer(10)], at: 100), to: listener, at: 100)
        try client.write(increment())
        try client.write(increment())
        // Both are committed, and no answer has arrived.
        try client.deliver(RemoteDocument(path, ["n": .integer(12)], at: 300), to: listener, at: 300)
        try client.acknowledge(at: 200, [.integer(11)])
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(12)]])
        try client.acknowledge(at: 300, [.integer(12)])
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(12)]])
    }

    @Test
    mutating func `Increments survive a restart with their base values`() throws {
        let first = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["n": .integer(10)], at: 100), to: first, at: 100)
        try client.write(increment())
        try client.write(increment())
        try client.restart()

        let listener = try client.listen(to: ViewQuery())
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(12)]])
        try client.deliver(RemoteDocument(path, ["n": .integer(11)], at: 200), to: listener, at: 200)
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(12)]])
        #expect(client.sent.map(\.batch.number) == [1, 2])
    }

    @Test
    mutating func `An increment of a field that is no number starts at zero`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["n": .string("text")], at: 100), to: listener, at: 100)
        try client.write(increment(by: 5))
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(5)]])
    }

    @Test
    mutating func `The result of the server replaces the sum`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["n": .integer(10)], at: 100), to: listener, at: 100)
        try client.write(increment())
        try client.acknowledge(at: 300, [.integer(25)])
        // The stream has not delivered it yet, so the listener still sees its own sum.
        #expect(client.events[listener]?.count == 2)
        let found = try client.engine.document(at: path)
        guard case .found(let document) = found else {
            Issue.record("Expected a document, found \(found).")
            return
        }
        #expect(document.fields == ["n": .integer(25)])
        #expect(document.hasCommittedMutations)
    }
}
