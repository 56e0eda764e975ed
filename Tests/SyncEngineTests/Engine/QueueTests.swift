import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("The queue")
struct QueueTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    @Test
    mutating func `Batches are numbered from 1 up, and an emptied queue goes on after a restart`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        try client.write(.set(path, ["n": .integer(2)]))
        #expect(client.sent.map(\.batch.number) == [1, 2])
        try client.acknowledge(at: 100)
        try client.reject()
        try client.restart()
        #expect(client.sent.isEmpty)
        try client.write(.set(path, ["n": .integer(3)]))
        #expect(client.sent.map(\.batch.number) == [3])
        #expect(client.sent.map(\.identity.after) == [2])
    }

    @Test
    mutating func `Each user has a queue with numbers of its own`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        try client.perform { try $0.changeUser(to: UserID("other")) }
        #expect(client.sent.isEmpty)
        try client.write(.set(path, ["n": .integer(2)]))
        #expect(client.takeSent().map(\.batch.number) == [1])
        try client.perform { try $0.changeUser(to: UserID(nil)) }
        #expect(client.sent.map(\.batch.writes) == [[try .set(path, ["n": .integer(1)])]])
    }

    @Test
    mutating func `No more than ten batches are under way, and they are sent in order`() throws {
        for number in 1...12 { try client.write(.set(path, ["n": .integer(Int64(number))])) }
        #expect(client.sent.map(\.batch.number) == Array(1...10))
        try client.acknowledge(at: 100)
        #expect(client.sent.map(\.batch.number) == Array(2...11))
        #expect(client.sent.last?.identity.after == 1)
    }

    @Test
    mutating func `Everything unanswered is sent again after a break`() throws {
        for number in 1...3 { try client.write(.set(path, ["n": .integer(Int64(number))])) }
        try client.acknowledge(at: 100)
        _ = client.takeSent()
        try client.perform { try $0.resendBatches() }
        #expect(client.sent.map(\.batch.number) == [2, 3])
        #expect(client.sent.map(\.identity.after) == [1, 1])
    }

    @Test
    mutating func `A rejected batch leaves those on top of it`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["a": .integer(0)], at: 100), to: listener, at: 100)
        let first = try client.write(.update(path, [(FieldPath("a"), .integer(1))]))
        let second = try client.write(.update(path, [(FieldPath("b"), .integer(2))]))
        #expect(try client.last(listener).documents.map(\.fields) == [["a": .integer(1), "b": .integer(2)]])
        try client.reject(.failedPrecondition)
        #expect(try client.last(listener).documents.map(\.fields) == [["a": .integer(0), "b": .integer(2)]])
        #expect(client.completions[first] == .failedPrecondition)
        #expect(client.completions[second] == nil)
        #expect(client.rejections.isEmpty)
    }

    @Test
    mutating func `An update on top of a rejected creation ceases to apply`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(to: listener, at: 100)
        try client.write(.set(path, ["a": .integer(1)]))
        try client.write(.update(path, [(FieldPath("b"), .integer(2))]))
        #expect(try client.last(listener).documents.count == 1)
        try client.reject()
        #expect(try client.last(listener).documents.isEmpty)
        // It is still sent: only the server decides.
        #expect(client.sent.map(\.batch.number) == [2])
    }

    @Test
    mutating func `An update of an unknown document applies when the document arrives`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.write(.update(path, [(FieldPath("b"), .integer(2))]))
        #expect(client.events[listener] == nil)
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        #expect(try client.last(listener).documents.map(\.fields) == [["a": .integer(1), "b": .integer(2)]])
        #expect(try client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `An acknowledged update of an unknown document hides it until the stream brings it`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.write(.update(path, [(FieldPath("b"), .integer(2))]))
        try client.acknowledge(at: 200)
        let read = try client.engine.document(at: path)
        #expect(read == .unknown)
        try client.deliver(
            RemoteDocument(path, ["a": .integer(1), "b": .integer(2)], at: 200),
            to: listener,
            at: 200
        )
        #expect(try client.last(listener).documents.map(\.fields) == [["a": .integer(1), "b": .integer(2)]])
        #expect(try !client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `The documents of the answer save computing them`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.write(.update(path, [(FieldPath("b"), .integer(2))]))
        let time = try Timestamp(microseconds: 200)
        let document = Document(path: path, fields: ["a": .integer(1), "b": .integer(2)], createTime: time, updateTime: time)
        let result = BatchResult(
            commitTime: time,
            results: [WriteResult(updateTime: time)],
            documents: [path: document]
        )
        try client.perform { try $0.batchAcknowledged(1, result) }
        #expect(try client.last(listener).documents.map(\.fields) == [["a": .integer(1), "b": .integer(2)]])
        #expect(try !client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `A write that changed nothing is done with its answer`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(RemoteDocument(path, ["a": .integer(1)], at: 100), to: listener, at: 100)
        try client.write(.set(path, ["a": .integer(1)]))
        #expect(try client.last(listener).hasPendingWrites)
        // The server answers with the unchanged update time, and no stream will bring anything.
        try client.acknowledge(at: 100)
        #expect(try !client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `Waiting for writes ends with the answer to the last one, whatever it is`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        try client.write(.set(path, ["n": .integer(2)]))
        try client.perform { try $0.waitForPendingWrites(100) }
        try client.write(.set(path, ["n": .integer(3)]))
        try client.acknowledge(at: 100)
        #expect(client.endedWaits.isEmpty)
        try client.reject()
        #expect(client.endedWaits == [100: nil])
    }

    @Test
    mutating func `A change of user cancels waiting for writes`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        try client.perform { try $0.waitForPendingWrites(100) }
        try client.perform { try $0.changeUser(to: UserID("other")) }
        #expect(client.endedWaits == [100: .cancelled])
    }

    @Test
    mutating func `A later deletion of a nested field keeps the map that an earlier write created`() throws {
        let listener = try client.listen(to: ViewQuery())
        try client.deliver(RemoteDocument(path, ["x": .integer(0)], at: 100), to: listener, at: 100)
        try client.write(.update(path, [(FieldPath("m.a"), .integer(1))]))
        try client.write(.update(path, [], delete: [FieldPath("m.a")]))
        try client.deliver(RemoteDocument(path, ["x": .integer(1)], at: 200), to: listener, at: 200)
        #expect(try client.last(listener).documents.map(\.fields) == [["m": .map([:]), "x": .integer(1)]])
    }

    @Test
    mutating func `A full queue refuses writes until the first answer`() throws {
        var settings = SyncEngine<MemoryCache>.Settings()
        settings.queueLimits.maximumCount = 2
        client = TestClient(SyncEngine(cache: MemoryCache(), settings: settings))
        for _ in 0..<2 { try client.write(.set(path, ["n": .integer(1)])) }
        let error = #expect(throws: StatusError.self) { try client.write(.set(path, ["n": .integer(1)])) }
        #expect(error?.code == .resourceExhausted)
        try client.acknowledge(at: 100)
        try client.write(.set(path, ["n": .integer(1)]))
        #expect(client.sent.map(\.batch.number) == [2, 3])
    }

    @Test
    mutating func `Writes that the server could only reject are refused at the call`() throws {
        let large = Value.bytes(Array(repeating: 0, count: 600_000))
        try client.write(.set(path, ["a": large]))
        let tooLarge = #expect(throws: StatusError.self) { try client.write(.set(path, ["b": large], merge: .all)) }
        #expect(tooLarge?.code == .invalidArgument)
        let transform = FieldTransform(field: try FieldPath("n"), operation: .increment(.string("1")))
        let noNumber = #expect(throws: StatusError.self) {
            try client.write(.set(path, [:], merge: .all, transforms: [transform]))
        }
        #expect(noNumber?.code == .invalidArgument)
        #expect(client.sent.map(\.batch.number) == [1])
    }

    @Test
    mutating func `An answer without results keeps the write on show until the stream brings it`() throws {
        let field = try FieldPath("n")
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(RemoteDocument(path, ["n": .integer(1)], at: 100), to: listener, at: 100)
        try client.write(.update(path, [], transforms: [FieldTransform(field: field, operation: .increment(.integer(5)))]))
        let result = BatchResult(commitTime: try Timestamp(microseconds: 200), results: [])
        #expect(result.lacksResults)
        try client.perform { try $0.batchAcknowledged(1, result) }
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(6)]])
        #expect(try client.last(listener).hasPendingWrites)
        guard case .found(let document) = try client.engine.document(at: path) else {
            Issue.record("Expected the document.")
            return
        }
        #expect(document.fields == ["n": .integer(6)])
        #expect(document.hasCommittedMutations)

        try client.deliver(RemoteDocument(path, ["n": .integer(7)], at: 200), to: listener, at: 200)
        #expect(try client.last(listener).documents.map(\.fields) == [["n": .integer(7)]])
        #expect(try !client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `A listener to the cache sees the end of a write`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true, isCacheOnly: true)
        try client.write(.set(path, ["a": .integer(1)]))
        #expect(try client.last(listener).hasPendingWrites)
        try client.acknowledge(at: 200)
        #expect(try !client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `A listener to the cache does not wait for a stream that was closed`() throws {
        let first = try client.listen(to: ViewQuery())
        let cached = try client.listen(to: ViewQuery(), includesMetadataChanges: true, isCacheOnly: true)
        try client.deliver(to: first, at: 100)
        try client.write(.set(path, ["a": .integer(1)]))
        try client.acknowledge(at: 200)
        #expect(try client.last(cached).hasPendingWrites)
        client.perform { $0.unlisten(first) }
        #expect(try !client.last(cached).hasPendingWrites)
    }

    @Test
    mutating func `A rejected write on top of an acknowledged one vanishes at once`() throws {
        let listener = try client.listen(to: ViewQuery(), includesMetadataChanges: true)
        try client.deliver(to: listener, at: 100)
        try client.write(.set(path, ["v": .integer(1)]))
        try client.write(.set(path, ["v": .integer(2)]))
        try client.acknowledge(at: 200)
        #expect(try client.last(listener).documents.map(\.fields) == [["v": .integer(2)]])
        try client.reject()
        #expect(try client.last(listener).documents.map(\.fields) == [["v": .integer(1)]])
        #expect(try client.last(listener).hasPendingWrites)
        try client.deliver(RemoteDocument(path, ["v": .integer(1)], at: 200), to: listener, at: 200)
        #expect(try !client.last(listener).hasPendingWrites)
    }

    @Test
    mutating func `An empty merge creates its document`() throws {
        let first = try client.listen(to: ViewQuery())
        try client.write(.set(path, [:], merge: .all))
        #expect(try client.last(first).documents.map(\.fields) == [[:]])
        let second = try client.listen(to: ViewQuery(limit: .first(1)))
        #expect(try client.last(second).documents.map(\.fields) == [[:]])
        #expect(try client.last(second).hasPendingWrites)
    }

    @Test
    mutating func `Answers are accepted in order only`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        try client.write(.set(path, ["n": .integer(2)]))
        try client.perform { try $0.waitForPendingWrites(100) }
        let time = try Timestamp(microseconds: 200)
        let result = BatchResult(commitTime: time, results: [WriteResult(updateTime: time)])
        #expect(throws: StatusError.self) { try client.perform { try $0.batchAcknowledged(2, result) } }
        #expect(throws: StatusError.self) {
            try client.perform { try $0.batchRejected(2, StatusError(.notFound, "No document.")) }
        }
        #expect(client.endedWaits.isEmpty)
        try client.acknowledge(at: 100)
        try client.acknowledge(at: 200)
        #expect(client.endedWaits == [100: nil])
    }
}
