import Concurrency
import DocumentModel
import HearthAPI
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

@testable import HearthHTTP
@testable import JSONRPC

/// The memory limit for responses, with clients that do not read theirs.
@Suite(.timeLimit(.minutes(10))) struct ResponseMemoryTests {
    private static let json = "Content-Type: application/json"

    /// A batch whose response is larger than a connection's buffers.
    private static let largeBatch = {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":["a/large"]}"#
        return "[\(Array(repeating: call, count: 20).joined(separator: ","))]"
    }()
    private static let smallCall = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":["a/small"]}"#
    private static let largeCall = #"{"jsonrpc":"2.0","id":1,"method":"documents.batchGet","params":[["a/large"]]}"#

    private static let budget = HTTPServerConfiguration.standard.with(\.maximumBufferedResponseBytes, 12 << 20)

    private func setDocuments(in server: InProcessServer) async throws {
        try await server.set("a/large", ["text": .string(String(repeating: "x", count: 400_000))])
        try await server.set("a/small", ["text": .string("x")])
    }

    @Test
    func `Clients that don't read their responses stay within the memory limit and don't block others`() async throws {
        // The clients stay connected for the whole test.
        let configuration = Self.budget.with(\.responseMemoryTimeout, .seconds(600)).with(\.stallTimeout, .seconds(600))
        try await withServer(configuration) { server in
            try await setDocuments(in: server)
            try await withThrowingTaskGroup { group in
                for _ in 0..<10 {
                    group.addTask {
                        try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                            let request = RawConnection.request("POST", "/rpc", [Self.json], body: Self.largeBatch)
                            await connection.sendUntilClosed(Array(request.utf8))
                        }
                    }
                }
                // Calls with small responses don't wait, even when the other clients are stalled, each with at least one document
                // that its connection has not accepted.
                var count = 0
                while server.responseBudget.reservedBytes < 2 << 20 || count < 20 {
                    let response = try await withConnection(to: server) {
                        try await $0.send("POST", "/rpc", [Self.json], body: Self.smallCall)
                    }
                    #expect(response.status == 200)
                    #expect(response.body.contains(#""result""#))
                    #expect(server.responseBudget.reservedBytes <= server.responseBudget.limit)
                    count += 1
                }
                // Closed connections release their memory.
                group.cancelAll()
            }
            let response = try await withConnection(to: server) {
                try await $0.send("POST", "/rpc", [Self.json], body: Self.largeCall)
            }
            #expect(response.body.contains(#""result""#))
            try await server.wait { server.responseBudget.reservedBytes == 0 }
        }
    }

    @Test
    func `A call is rejected with 503 when no memory becomes available in time`() async throws {
        try await withServer(Self.budget.with(\.responseMemoryTimeout, .milliseconds(20))) { server in
            try await setDocuments(in: server)
            let reservation = MemoryBudget.Reservation(of: server.responseBudget)
            #expect(await reservation.reserve(server.responseBudget.limit))
            try await withConnection(to: server) { connection in
                let rejected = try await connection.send("POST", "/rpc", [Self.json], body: Self.smallCall)
                #expect(rejected.status == 503)
                #expect(rejected["retry-after"] == "1")
                #expect(rejected.body.contains(#""jsonrpc":"2.0","id":null,"error":{"code":8,"#))
                #expect(rejected.body.contains(#""retryAfterMilliseconds":1000"#))
                reservation.shrink(to: 0)
                #expect(try await connection.send("POST", "/rpc", [Self.json], body: Self.smallCall).status == 200)
            }
        }
    }

    @Test
    func `A waiting call is executed when memory becomes available`() async throws {
        try await withServer(Self.budget.with(\.responseMemoryTimeout, .seconds(600))) { server in
            try await setDocuments(in: server)
            let reservation = MemoryBudget.Reservation(of: server.responseBudget)
            #expect(await reservation.reserve(server.responseBudget.limit))
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("POST", "/rpc", [Self.json], body: Self.largeCall))
                try await server.wait { server.responseBudget.waiterCount == 1 }
                reservation.shrink(to: 0)
                let response = try await connection.response()
                #expect(response.status == 200)
                #expect(response.body.utf8.count > 400_000)
            }
        }
    }

    @Test
    func `A client that reads a large response gets all of it, and the connection stays open`() async throws {
        try await withServer(Self.budget) { server in
            try await setDocuments(in: server)
            try await withConnection(to: server) { connection in
                let response = try await connection.send("POST", "/rpc", [Self.json], body: Self.largeBatch)
                #expect(response.status == 200)
                #expect(response["content-type"] == "application/json")
                #expect(response["transfer-encoding"] == nil)
                let elements = try JSONText(response.body).root.elements.map(Array.init)
                #expect(elements?.count == 20)
                #expect(elements?.allSatisfy { $0["result"]?["path"]?.string == "a/large" } == true)
                #expect(try await connection.send("POST", "/rpc", [Self.json], body: Self.smallCall).status == 200)
            }
            try await server.wait { server.responseBudget.reservedBytes == 0 }
        }
    }
}
