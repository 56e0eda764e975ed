import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Pending server timestamps")
struct PendingTimestampTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    private func stamp(_ path: DocumentPath, _ field: String = "t") throws -> Write {
        let transform = FieldTransform(field: try FieldPath(field), operation: .serverTimestamp)
        return try .set(path, [:], merge: .all, transforms: [transform])
    }

    private func timestamp(_ microseconds: Int64) throws -> Value {
        .timestamp(try Timestamp(microseconds: microseconds))
    }

    @Test
    mutating func `A reader chooses null, the estimate or the previous value`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["t": timestamp(1_000)], at: 100), to: listener, at: 100)
        try client.write(stamp(path), at: 7_654_321)
        let document = try #require(try client.last(listener).documents.first)
        #expect(document.fields(.none) == ["t": .null])
        #expect(try document.fields(.estimate) == ["t": timestamp(7_654_000)])
        #expect(try document.fields(.previous) == ["t": timestamp(1_000)])
    }

    @Test
    mutating func `The previous value lasts through any number of pending ones`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["t": .string("first")], at: 100), to: listener, at: 100)
        try client.write(stamp(path), at: 7_000_000)
        try client.write(stamp(path), at: 8_000_000)
        let document = try #require(try client.last(listener).documents.first)
        #expect(document.fields(.previous) == ["t": .string("first")])
        #expect(try document.fields(.estimate) == ["t": timestamp(8_000_000)])
    }

    @Test
    mutating func `A value that replaces the field ends the wait`() throws {
        try client.write(stamp(path))
        try client.write(.set(path, ["t": .null], merge: .all))
        let read = try client.engine.document(at: path)
        guard case .found(let document) = read else {
            Issue.record("Expected a document, found \(read).")
            return
        }
        #expect(document.pendingTimestamps.isEmpty)
        #expect(document.fields == ["t": .null])
    }

    @Test
    mutating func `A pending timestamp inside a map leaves its siblings alone`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["m": .map(["a": .integer(1)])], at: 100), to: listener, at: 100)
        try client.write(stamp(path, "m.t"))
        #expect(try client.last(listener).documents.map(\.fields) == [["m": .map(["a": .integer(1), "t": .null])]])
        try client.deliver(RemoteDocument(path, ["m": .map(["a": .integer(2)])], at: 200), to: listener, at: 200)
        #expect(try client.last(listener).documents.map(\.fields) == [["m": .map(["a": .integer(2), "t": .null])]])
    }

    @Test
    mutating func `Pending timestamps sort after all others, among themselves by local time`() throws {
        let listener = try client.listen(to: ViewQuery(orders: [StructuredQuery.Order(.field(FieldPath("t")))]))
        let latest = Value.timestamp(.maximum)
        try client.deliver(
            RemoteDocument(DocumentPath.inC("latest"), ["t": latest], at: 100),
            RemoteDocument(DocumentPath.inC("text"), ["t": .string("")], at: 100),
            RemoteDocument(DocumentPath.inC("null"), ["t": .null], at: 100),
            to: listener,
            at: 100
        )
        try client.write(stamp(DocumentPath.inC("second")), at: 9_000_000)
        try client.write(stamp(DocumentPath.inC("first")), at: 8_000_000)
        #expect(try client.last(listener).documents.map(\.path.id.key.string) == ["null", "latest", "first", "second", "text"])
    }

    @Test(arguments: [
        (Condition.greater(.timestamp(.minimum)), false), (.equal(.null), false), (.notEqual(.integer(1)), true),
        (.notIn([.timestamp(.minimum)]), true),
    ])
    mutating func `Only an inequality to other values matches a pending timestamp`(condition: Condition, matches: Bool) throws {
        let listener = try client.listen(to: ViewQuery(where: .field(FieldPath("t"), condition)))
        client.perform { $0.onlineStateTimerFired() }
        try client.write(stamp(path))
        #expect(try client.last(listener).documents.isEmpty == !matches)
    }

    @Test
    mutating func `The server's time replaces the pending one`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.write(stamp(path))
        try client.acknowledge(at: 9_000_000, [timestamp(9_000_000)])
        try client.deliver(RemoteDocument(path, ["t": timestamp(9_000_000)], at: 9_000_000), to: listener, at: 9_000_000)
        let snapshot = try client.last(listener)
        #expect(snapshot.documents.map(\.pendingTimestamps.isEmpty) == [true])
        #expect(try snapshot.documents.map(\.fields) == [["t": timestamp(9_000_000)]])
        #expect(!snapshot.hasPendingWrites)
    }
}
