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
        try client.write(.set(path, ["n": .integer(0)]))
        try client.acknowledge(at: 100)
        for number in 2...4 { try client.write(.set(path, ["n": .integer(Int64(number))])) }
        _ = client.takeSent()
        // The first one is rejected, and the others are refused since it is missing.
        client.engine.recordUnmade([2, 3, 4])
        try client.perform { try $0.batchRejected(2, StatusError(.permissionDenied, "The batch is rejected.")) }
        try client.perform { try $0.resendBatches() }
        _ = client.takeSent()
        // The server has not kept the rejection, so it does not know the client.
        try client.perform { try $0.identityForgotten() }
        #expect(client.rejections.isEmpty)
        #expect(client.takeSent().map(\.batch.number) == [3, 4])
        // This time there was no answer.
        try client.perform { try $0.resendBatches() }
        _ = client.takeSent()
        try client.perform { try $0.identityForgotten() }
        #expect(client.completions.values.filter { $0 == .some(.unknown) }.count == 2)
    }

    @Test
    mutating func `An identity under which all batches were refused is not used again, since a server forgets refusals`() throws {
        for number in 1...3 { try client.write(.set(path, ["n": .integer(Int64(number))])) }
        let first = try #require(client.takeSent().first?.identity)
        // The others were not in the request.
        client.engine.recordUnmade([2, 3])
        try client.perform { try $0.batchRejected(1, StatusError(.notFound, "The batch is rejected.")) }
        let second = client.takeSent()
        #expect(second.map(\.batch.number) == [2, 3] && second.map(\.identity.number) == [1, 2])
        #expect(second.allSatisfy { $0.identity.client != first.client && $0.identity.after == 0 })
        // An answer was lost, so that the next batch may have been made.
        try client.perform { try $0.resendBatches() }
        #expect(client.sent.map(\.identity) == second.map(\.identity))
        try client.reject()
        #expect(client.sent.map(\.identity.client) == second.map(\.identity.client).suffix(1))
        try client.reject()
        // Now there is none.
        try client.write(.set(path, ["n": .integer(4)]))
        #expect(client.sent.map(\.identity.number) == [3])
    }

    @Test
    mutating func `A rejection is kept until the caller was told, and an abandoned write is reported`() throws {
        let told = try client.write(.set(path, ["n": .integer(1)]))
        let abandoned = try client.write(.set(path, ["n": .integer(2)]))
        try client.reject(.notFound)
        #expect(client.completions == [told: .notFound] && client.rejections.isEmpty)
        #expect(try client.engine.rejectedBatches().map(\.number) == [1])
        try client.engine.removeRejectedBatch(1, of: client.engine.user)
        client.engine.abandonWrite(abandoned)
        try client.reject(.notFound)
        #expect(client.completions == [told: .notFound] && client.rejections == [2: .notFound])
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
