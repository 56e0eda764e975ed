import DocumentModel
import FirestoreProto
import HearthHTTP
import ServerTestSupport
import SwiftProtobuf
import Testing

/// The limits on the rate of calls, as Firestore's clients meet them. The tests act as a proxy, with the address 127.0.0.1.
@Suite("Rates of calls over gRPC and WebChannel", .timeLimit(.minutes(10)))
struct CallRateTests {
    private static let listen =
        #"{"database":"projects/p/databases/(default)","addTarget":{"documents":{"documents":["#
        + #""projects/p/databases/(default)/documents/a/b"]},"targetId":2}}"#
    private static let client = "X-Forwarded-For: 203.0.113.7"

    /// The configuration of a server that allows few calls to an address.
    private var configuration: HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration.standard
        configuration.trustedProxies = [CIDRBlock("127.0.0.1")].compactMap(\.self)
        configuration.callRatePerAddress = 1
        configuration.callBurstPerAddress = 10
        return configuration
    }

    /// Uses up the calls of the client for longer than a test takes.
    private func exhaust(_ server: InProcessServer) async throws {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
        let batch = "[" + Array(repeating: call, count: 1_000).joined(separator: ",") + "]"
        try await withConnection(to: server) { connection in
            let fields = [Self.client, "Content-Type: application/json"]
            let response = try await connection.send("POST", "/rpc", fields, body: batch)
            #expect(response.status == 200)
        }
    }

    @Test
    func `A call over the rate is RESOURCE_EXHAUSTED, with the delay in its trailers`() async throws {
        try await withServer(configuration) { server in
            let request = ProtoGetDocumentRequest.make { $0.name = resourceName("books/x") }
            try await withHTTP2Connection(to: server) { connection in
                #expect(try await connection.firestore("GetDocument", request, [Self.client]).code == .notFound)
                try await exhaust(server)
                let refused = try await connection.firestore("GetDocument", request, [Self.client])
                #expect(refused.code == .resourceExhausted && refused.isTrailersOnly)
                #expect(refused.message.hasPrefix("Your address 203.0.113.7 sends more calls"))
                #expect(refused.head["grpc-retry-pushback-ms"].flatMap { Int($0) }.map { $0 > 1_000 } == true)
                #expect(try await connection.firestore("GetDocument", request).code == .notFound)
                // A health check is free.
                let health = try await connection.grpc("/grpc.health.v1.Health/Check", body: framed([]), [Self.client])
                #expect(health.isOK)
            }
        }
    }

    @Test
    func `A channel counts as one call at its opening, and a refusal comes through it`() async throws {
        try await withServer(configuration) { server in
            let client = try await WebChannelClient.open("Listen", on: server, Self.listen, fields: [Self.client])
            try await exhaust(server)
            // Its messages and polls go on.
            _ = try await client.send(#"{"database":"projects/p/databases/(default)","removeTarget":2}"#, from: 1)
            let refused = try await WebChannelClient.open("Listen", on: server, Self.listen, fields: [Self.client])
            try await refused.withBackChannel(acknowledging: 0) { backChannel in
                let status = try await backChannel.next()
                #expect(status?.contains("\"status\":\"RESOURCE_EXHAUSTED\"") == true, "\(status ?? "-")")
            }
        }
    }
}
