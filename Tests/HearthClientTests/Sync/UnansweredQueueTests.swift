import HearthClient
import StrictJSON
import Synchronization
import Testing
import TransportTestSupport
import UTF8Text

@Suite("Queued writes and servers that do not answer them", .timeLimit(.minutes(10)))
struct UnansweredQueueTests {
    /// A call of a request, with its ID as JSON.
    private struct Call {
        let id: String
        let identity: JSONNode?
    }

    private static func calls(_ request: StubServer.Request) -> [Call] {
        let calls = (try? JSONText(Array(request.body.utf8)).root.elements).flatMap { $0.map(Array.init) } ?? []
        return calls.map { call in
            Call(id: String(decoding: call["id"]?.rawBytes ?? [], as: UTF8.self), identity: call["params"]?["identity"])
        }
    }

    /// Returns the response with an answer to each call of a request.
    private static func response(to request: StubServer.Request, _ answer: (Call) -> String) -> StubServer.Response {
        let answers = calls(request).map { #"{"jsonrpc":"2.0","id":\#($0.id),\#(answer($0))}"# }
        return .json(status: 200, "[\(answers.joined(separator: ","))]")
    }

    private static let committed = #""result":{"commitTime":"2024-02-29T12:00:00.000000Z","writeResults":[{}]}"#

    /// Queues writes at a server, waits until it was asked twice, and lets it answer.
    private func expectSurvival(_ refuse: @escaping @Sendable (StubServer.Request) -> StubServer.Response) async throws {
        let isAnswering = Mutex(false)
        let server = try StubServer { request in
            isAnswering.withLock(\.self) ? Self.response(to: request) { _ in Self.committed } : refuse(request)
        }
        let db = server.firestore(.key("fsk_11111111_secretsecret"), MemoryCacheSettings())
        for id in ["a", "b", "c"] { try await db.batch().setData(["n": 1], forDocument: db.document("notes/\(id)")).enqueue() }
        while server.requests.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
        let status = try await db.writeQueueStatus
        #expect(status.count == 3 && status.lastError != nil)
        isAnswering.withLock { $0 = true }
        // Ends the pause before the next attempt.
        try await db.enableNetwork()
        try await db.waitForPendingWrites()
        #expect(try await db.writeQueueStatus.count == 0)
        #expect(try await db.writeQueueStatus.lastError == nil)
        try await db.terminate()
    }

    @Test func `Writes wait while the server refuses the key`() async throws {
        try await expectSurvival { _ in .unauthenticated }
    }

    @Test(arguments: [
        #""error":{"code":-32601,"message":"Method not found"}"#, #""error":{"code":-32602,"message":"Invalid params"}"#,
        #""error":{"code":5,"message":"Not found"}"#, #""result":{}"#, #""result":{"commitTime":"today","writeResults":[]}"#,
        #""error":{"code":-32601,"message":"Method not found; rpc.discover lists the methods","data":{"method":"documents.commit"}}"#,
    ])
    func `Writes wait while another program, or another version, answers`(_ answer: String) async throws {
        try await expectSurvival { request in Self.response(to: request) { _ in answer } }
    }

    @Test(arguments: [
        "", "<h1>Welcome</h1>", "[]", "{}", #"[{"jsonrpc":"2.0","id":7,"result":{}}]"#,
        #"{"jsonrpc":"2.0","id":null,"result":{}}"#,
    ])
    func `Writes wait while responses do not fit`(_ body: String) async throws {
        try await expectSurvival { _ in .json(status: 200, body) }
    }

    @Test func `A document with queued writes is read while a captive portal answers`() async throws {
        let server = try StubServer { _ in .json(status: 200, "<h1>Welcome</h1>") }
        let db = server.firestore(nil, MemoryCacheSettings())
        try await db.batch().setData(["n": 1], forDocument: db.document("notes/a")).enqueue()
        let document = try await db.document("notes/a").getDocument()
        #expect(document.metadata.isFromCache && document.metadata.hasPendingWrites)
        try await db.terminate()
    }

    @Test func `An older server gets the writes one by one, without identities`() async throws {
        let server = try StubServer { request in
            Self.response(to: request) { call in
                call.identity == nil
                    ? Self.committed
                    : #""error":{"code":-32602,"message":"Invalid params: params.identity: unknown name","#
                        + #""data":{"path":"params.identity","reason":"unknown name"}}"#
            }
        }
        let db = server.firestore(nil, MemoryCacheSettings())
        try await db.disableNetwork()
        for id in ["a", "b", "c"] { try await db.batch().setData(["n": 1], forDocument: db.document("notes/\(id)")).enqueue() }
        try await db.enableNetwork()
        try await db.waitForPendingWrites()
        let requests = server.requests.map(Self.calls)
        #expect(requests.map(\.count) == [1, 1, 1, 1])
        #expect(requests.map { $0.first?.identity != nil } == [true, false, false, false])
        try await db.terminate()
    }
}
