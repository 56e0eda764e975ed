import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Identities of batches")
struct BatchIdentityTests {
    private let path = DocumentPath.inC("a")
    private var client = TestClient()

    @Test
    mutating func `The batches of a user are commits of one client, also after a restart`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        let first = try #require(client.sent.first?.identity)
        #expect(first.number == 1)
        try client.restart()
        try client.write(.set(path, ["n": .integer(2)]))
        #expect(client.sent.map(\.identity.client) == [first.client, first.client])
        #expect(client.sent.map(\.identity.number) == [1, 2])
        try client.perform { try $0.changeUser(to: UserID("other")) }
        try client.write(.set(path, ["n": .integer(1)]))
        #expect(client.sent.last?.identity.client != first.client)
    }

    @Test
    mutating func `Batches that the server cannot have made are sent again under a new identity`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        try client.acknowledge(at: 100)
        for number in 2...3 { try client.write(.set(path, ["n": .integer(Int64(number))])) }
        let previous = client.takeSent()
        try client.perform { try $0.identityForgotten() }
        #expect(client.sent.map(\.batch.number) == [2, 3])
        #expect(client.sent.map(\.identity.number) == [1, 2])
        #expect(client.sent.map(\.identity.after) == [0, 0])
        #expect(client.sent.first?.identity.client != previous.first?.identity.client)
        try client.acknowledge(at: 200)
        try client.write(.set(path, ["n": .integer(4)]))
        #expect(client.sent.map(\.identity.number) == [2, 3])
        #expect(client.sent.last?.identity.after == 1)
    }

    @Test
    mutating func `A batch that the server may have made is not sent under a new identity, but reported`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        try client.write(.set(path, ["n": .integer(2)]))
        try client.restart()
        try client.write(.set(path, ["n": .integer(3)]))
        _ = client.takeSent()
        try client.perform { try $0.identityForgotten() }
        #expect(client.rejections == [1: .unknown, 2: .unknown])
        #expect(client.sent.map(\.batch.number) == [3])
        #expect(client.sent.map(\.identity.number) == [1])
    }

    @Test
    mutating func `A batch that the server has refused is sent under a new identity, also after several attempts`() throws {
        for number in 1...3 { try client.write(.set(path, ["n": .integer(Int64(number))])) }
        _ = client.takeSent()
        // The first one is rejected, and the others are refused since it is missing.
        client.engine.recordUnmade([1, 2, 3])
        try client.perform { try $0.batchRejected(1, StatusError(.permissionDenied, "The batch is rejected.")) }
        try client.perform { try $0.resendBatches() }
        _ = client.takeSent()
        // The server has not kept the rejection, so it does not know the client.
        try client.perform { try $0.identityForgotten() }
        #expect(client.rejections.isEmpty)
        #expect(client.takeSent().map(\.batch.number) == [2, 3])
        // This time there was no answer.
        try client.perform { try $0.resendBatches() }
        _ = client.takeSent()
        try client.perform { try $0.identityForgotten() }
        #expect(client.completions.values.filter { $0 == .some(.unknown) }.count == 2)
    }

    @Test
    mutating func `Numbers that other batches have are given up, and nothing is lost`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        try client.perform { try $0.resendBatches() }
        let previous = try #require(client.takeSent().last?.identity)
        try client.perform { try $0.identityReused() }
        let renewed = try #require(client.sent.last)
        #expect(renewed.batch.number == 1 && renewed.identity.number == 1)
        #expect(renewed.identity.client != previous.client)
    }

    @Test
    mutating func `A rejected batch that nobody waits for is kept until the application has seen it`() throws {
        try client.write(.set(path, ["n": .integer(1)]))
        try client.restart()
        try client.reject(.failedPrecondition)
        #expect(client.rejections == [1: .failedPrecondition])
        try client.restart()
        let rejected = try client.engine.rejectedBatches()
        #expect(rejected.map(\.number) == [1])
        #expect(rejected.map(\.writes) == [[try .set(path, ["n": .integer(1)])]])
        try client.engine.removeRejectedBatch(1, of: client.engine.user)
        #expect(try client.engine.rejectedBatches().isEmpty)
    }

    @Test
    mutating func `The state of the queue tells its length, size and age`() throws {
        #expect(try client.engine.oldestLocalTime() == nil)
        try client.write(.set(path, ["n": .integer(1)]), at: 1_000)
        try client.write(.set(path, ["n": .string("text")]), at: 2_000)
        let state = try client.engine.queueState()
        #expect(state.count == 2)
        #expect(state.byteCount > 60)
        #expect(try client.engine.oldestLocalTime() == Timestamp(microseconds: 1_000))
        try client.acknowledge(at: 100)
        try client.acknowledge(at: 200)
        #expect(try client.engine.queueState().count == 0)
        #expect(try client.engine.queueState().byteCount == 0)
    }

    @Test
    mutating func `A queue that is too large refuses writes`() throws {
        var settings = SyncEngine<MemoryCache>.Settings()
        settings.queueLimits.maximumByteCount = 1_000
        client = TestClient(SyncEngine(cache: MemoryCache(), settings: settings))
        // A single batch may be larger.
        try client.write(.set(path, ["a": .bytes(Array(repeating: 0, count: 2_000))]))
        let error = #expect(throws: StatusError.self) { try client.write(.set(path, ["n": .integer(1)])) }
        #expect(error?.code == .resourceExhausted)
        try client.acknowledge(at: 100)
        try client.write(.set(path, ["n": .integer(1)]))
    }
}
