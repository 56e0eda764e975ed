import DocumentModel
import HearthService
import StrictJSON
import Testing

@testable import HearthServer
@testable import JSONRPC

/// What clients that do not read their answers can't do to others.
@Suite(.timeLimit(.minutes(1))) struct AnswerLimitTests {
    private static let json = "Content-Type: application/json"

    /// A batch whose answer is larger than what a connection takes by itself.
    private static let greedy = {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":["a/large"]}"#
        return "[\(Array(repeating: call, count: 20).joined(separator: ","))]"
    }()
    private static let modest = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":["a/small"]}"#
    private static let large = #"{"jsonrpc":"2.0","id":1,"method":"documents.batchGet","params":[["a/large"]]}"#

    private static let budget = HearthServerConfiguration.standard.with(\.maximumHeldAnswerBytes, 12 << 20)

    private func setDocuments(in server: TestServer) async throws {
        try await server.set("a/large", ["text": .string(String(repeating: "x", count: 400_000))])
        try await server.set("a/small", ["text": .string("x")])
    }

    @Test("Clients that never read their answers take no more memory than there is for answers, and others are answered")
    func unread() async throws {
        try await withServer(Self.budget) { server in
            try await setDocuments(in: server)
            try await withThrowingTaskGroup { group in
                for _ in 0..<10 {
                    group.addTask {
                        try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                            let request = RawConnection.request("POST", "/rpc", [Self.json], body: Self.greedy)
                            await connection.sendUntilClosed(Array(request.utf8))
                        }
                    }
                }
                // Calls that are answered briefly do not even wait, before and when the others can't go on. Each of them has at
                // least a document then that its connection did not take.
                var count = 0
                while server.answers.held < 2 << 20 || count < 20 {
                    let response = try await withConnection(to: server) {
                        try await $0.ask("POST", "/rpc", [Self.json], body: Self.modest)
                    }
                    #expect(response.status == 200)
                    #expect(response.body.contains(#""result""#))
                    #expect(server.answers.held <= server.answers.limit)
                    count += 1
                }
                // Connections that are closed make room.
                group.cancelAll()
            }
            let response = try await withConnection(to: server) {
                try await $0.ask("POST", "/rpc", [Self.json], body: Self.large)
            }
            #expect(response.body.contains(#""result""#))
            try await server.wait { server.answers.held == 0 }
        }
    }

    @Test("A call that there is no room for is refused after a while, and told to try again")
    func refusal() async throws {
        try await withServer(Self.budget.with(\.answerWait, .milliseconds(20))) { server in
            try await setDocuments(in: server)
            let share = AnswerBudget.Share(of: server.answers)
            #expect(await share.reserve(server.answers.limit))
            try await withConnection(to: server) { connection in
                let refused = try await connection.ask("POST", "/rpc", [Self.json], body: Self.modest)
                #expect(refused.status == 503)
                #expect(refused["retry-after"] == "1")
                #expect(refused.body.contains(#""jsonrpc":"2.0","id":null,"error":{"code":8,"#))
                #expect(refused.body.contains(#""retryAfterMilliseconds":1000"#))
                share.shrink(to: 0)
                #expect(try await connection.ask("POST", "/rpc", [Self.json], body: Self.modest).status == 200)
            }
        }
    }

    @Test("A call waits for room, and is answered when there is")
    func waiting() async throws {
        try await withServer(Self.budget.with(\.answerWait, .seconds(30))) { server in
            try await setDocuments(in: server)
            let share = AnswerBudget.Share(of: server.answers)
            #expect(await share.reserve(server.answers.limit))
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("POST", "/rpc", [Self.json], body: Self.large))
                try await server.wait { server.answers.waiting == 1 }
                share.shrink(to: 0)
                let response = try await connection.response()
                #expect(response.status == 200)
                #expect(response.body.utf8.count > 400_000)
            }
        }
    }

    @Test("A client that reads its large answer gets all of it, and the connection goes on")
    func read() async throws {
        try await withServer(Self.budget) { server in
            try await setDocuments(in: server)
            try await withConnection(to: server) { connection in
                let response = try await connection.ask("POST", "/rpc", [Self.json], body: Self.greedy)
                #expect(response.status == 200)
                #expect(response["content-type"] == "application/json")
                #expect(response["transfer-encoding"] == nil)
                let elements = try JSONText(response.body).root.elements.map(Array.init)
                #expect(elements?.count == 20)
                #expect(elements?.allSatisfy { $0["result"]?["path"]?.string == "a/large" } == true)
                #expect(try await connection.ask("POST", "/rpc", [Self.json], body: Self.modest).status == 200)
            }
            try await server.wait { server.answers.held == 0 }
        }
    }
}
