import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Limits and offsets of a view")
struct ResultWindowTests {
    private var client = TestClient()
    private let byNumber = [StructuredQuery.Order(.field(FieldPath.number))]

    private func document(_ id: String, _ number: Int64, at time: Int64 = 100) throws -> RemoteDocument {
        try RemoteDocument(.inC(id), ["n": .integer(number)], at: time)
    }

    private func ids(_ listener: ListenerID) throws -> [String] {
        try client.last(listener).documents.map(\.path.id.key.string)
    }

    private func changes(_ listener: ListenerID) throws -> [String] {
        try client.last(listener).changes.map { change in
            let (old, new) = (change.oldIndex.map { "\($0)" } ?? "-", change.newIndex.map { "\($0)" } ?? "-")
            return "\(change.kind) \(change.document.path.id.key.string) \(old) \(new)"
        }
    }

    @Test
    mutating func `A local deletion refills a full limit from the cache`() throws {
        let all = try client.listen(to: ViewQuery())
        try client.deliver(document("a", 1), document("b", 2), document("c", 3), to: all, at: 100)
        let limited = try client.listen(to: ViewQuery(orders: byNumber, limit: .first(2)))
        #expect(try ids(limited) == ["a", "b"])
        try client.write(.delete(.inC("a")))
        #expect(try ids(limited) == ["b", "c"])
        #expect(try changes(limited) == ["removed a 0 -", "added c - 1"])
    }

    @Test(arguments: [StructuredQuery.Limit.first(5), .last(5)])
    mutating func `A huge offset leaves nothing`(limit: StructuredQuery.Limit) throws {
        let listener = try client.listen(to: ViewQuery(orders: byNumber, offset: .max, limit: limit))
        try client.deliver(document("a", 1), to: listener, at: 100)
        #expect(try ids(listener).isEmpty)
    }

    @Test
    mutating func `The last documents are shown in order`() throws {
        let listener = try client.listen(to: ViewQuery(orders: byNumber, limit: .last(2)))
        try client.deliver(document("b", 2), document("c", 3), to: listener, at: 100)
        #expect(try ids(listener) == ["b", "c"])
        try client.deliver(document("d", 4, at: 200), removing: [.inC("b")], to: listener, at: 200)
        #expect(try ids(listener) == ["c", "d"])
        #expect(try changes(listener) == ["removed b 0 -", "added d - 1"])
    }

    @Test
    mutating func `A limit to the last documents shares the target of the reverse limit to the first`() throws {
        let descending = [StructuredQuery.Order(.field(FieldPath.number), .descending)]
        let last = try client.listen(to: ViewQuery(orders: byNumber, limit: .last(2)))
        let first = try client.listen(to: ViewQuery(orders: descending, limit: .first(2)))
        #expect(client.engine.target(of: last) == client.engine.target(of: first))
        #expect(client.requests.count == 1)
        client.perform { $0.unlisten(last) }
        #expect(client.requests.count == 1)
        client.perform { $0.unlisten(first) }
        #expect(client.requests.isEmpty)
    }

    @Test
    mutating func `An offset skips documents that the target includes`() throws {
        let listener = try client.listen(to: ViewQuery(orders: byNumber, offset: 1, limit: .first(2)))
        guard case .query(let query)? = client.requests[1]?.target else {
            Issue.record("Expected the target of a query.")
            return
        }
        #expect(query.offset == 0)
        #expect(query.limit == .first(3))
        try client.deliver(document("a", 1), document("b", 2), document("c", 3), to: listener, at: 100)
        #expect(try ids(listener) == ["b", "c"])

        // A document before the offset moves the window.
        try client.write(.set(.inC("x"), ["n": .integer(0)]))
        #expect(try ids(listener) == ["a", "b"])
        #expect(try changes(listener) == ["removed c 1 -", "added a - 0"])
        #expect(try !client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `A limit of zero is always empty`() throws {
        let listener = try client.listen(to: ViewQuery(limit: .first(0)))
        try client.deliver(to: listener, at: 100)
        try client.write(.set(.inC("x"), ["n": .integer(0)]))
        #expect(client.events[listener]?.map(\.documents.count) == [0])
    }

    @Test
    mutating func `A document is a result of one`() throws {
        let listener = try client.listen(to: ViewQuery(document: .inC("a")))
        #expect(client.requests[1]?.target == .document(.inC("a")))
        try client.deliver(document("a", 1), to: listener, at: 100)
        #expect(try ids(listener) == ["a"])
        try client.deliver(RemoteDocument(missing: .inC("a"), at: 200), removing: [.inC("a")], to: listener, at: 200)
        #expect(try ids(listener).isEmpty)
        let read = try client.engine.document(at: .inC("a"))
        #expect(read == .missing)
    }

    @Test
    mutating func `The indices of many changes replay to the new result`() throws {
        let listener = try client.listen(to: ViewQuery(orders: byNumber))
        var event = RemoteEvent(time: try Timestamp(microseconds: 100))
        event.documents = try (0..<100).map { try document("d\($0)", Int64($0 * 7 % 100)) }
        event.targets[1] = RemoteEvent.TargetChange(added: Set(event.documents.map(\.path)), isCurrent: true)
        try client.perform { [event] in try $0.apply(event) }
        var shown = try client.last(listener).documents

        event.time = try Timestamp(microseconds: 200)
        event.documents = try (0..<60).map { number in
            try number % 3 == 0
                ? RemoteDocument(missing: .inC("d\(number)"), at: 200)
                : document("d\(number)", Int64(number * 13 % 100), at: 200)
        }
        event.targets[1] = RemoteEvent.TargetChange(
            modified: Set(event.documents.filter(\.isFound).map(\.path)),
            removed: Set(event.documents.filter { !$0.isFound }.map(\.path)),
            isCurrent: true
        )
        try client.perform { [event] in try $0.apply(event) }
        let snapshot = try client.last(listener)
        for change in snapshot.changes {
            if let index = change.oldIndex { shown.remove(at: index) }
            if let index = change.newIndex { shown.insert(change.document, at: index) }
        }
        #expect(shown == snapshot.documents)
        #expect(shown.count == 80)
    }
}

extension FieldPath {
    /// The field `n`.
    fileprivate static var number: FieldPath {
        do throws(StatusError) {
            return try FieldPath("n")
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
