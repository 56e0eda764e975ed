import Foundation
import HearthAPI
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

@testable import HearthHTTP

/// The limits on the rate of calls. The tests act as a proxy, with the address 127.0.0.1; no bucket is refilled while they run.
@Suite("Rates of calls", .timeLimit(.minutes(10)))
struct CallRateTests {
    private static let read = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":{"path":"a/b"}}"#
    private static let json = "Content-Type: application/json"

    private func configuration(
        addressBurst: Int? = nil,
        keyBurst: Int? = nil,
        callsPerSecond: Int = 1
    ) -> HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration.standard
        configuration.trustedProxies = [CIDRBlock("127.0.0.1")].compactMap(\.self)
        if let addressBurst {
            configuration.callRatePerAddress = callsPerSecond
            configuration.callBurstPerAddress = addressBurst
        }
        if let keyBurst {
            configuration.callRatePerKey = callsPerSecond
            configuration.callBurstPerKey = keyBurst
        }
        return configuration
    }

    /// Sends a request until it is refused, at most ten times, and returns how often it was accepted.
    private func acceptedCount(
        _ server: InProcessServer,
        _ target: String,
        _ fields: [String],
        body: String? = nil
    ) async throws -> Int {
        try await withConnection(to: server) { connection in
            for count in 0..<10 {
                let response = try await connection.send(body == nil ? "GET" : "POST", target, fields, body: body)
                if response.status == 429 { return count }
            }
            return 10
        }
    }

    @Test
    func `An address over its rate gets 429 with a delay, and others are served`() async throws {
        // A batch that overdraws the bucket takes it 1,000 s to refill, which is longer than the test on any machine.
        try await withServer(configuration(addressBurst: 3)) { server in
            let overdraw = "[" + Array(repeating: Self.read, count: 1_000).joined(separator: ",") + "]"
            let client = ["X-Forwarded-For: 203.0.113.7", Self.json]
            try await withConnection(to: server) { connection in
                #expect(try await connection.send("POST", "/rpc", client, body: Self.read).status == 200)
                // A batch counts as its calls, and is executed as a whole.
                let batch = try await connection.send("POST", "/rpc", client, body: overdraw)
                #expect(batch.status == 200)
                let refused = try await connection.send("POST", "/rpc", client, body: Self.read)
                #expect(refused.status == 429)
                let error = try JSONText(Array(refused.body.utf8)).root
                #expect(error["id"]?.kind == .null)
                #expect(error["error"]?["code"]?.number == .integer(8))
                #expect(error["error"]?["message"]?.string?.hasPrefix("Your address 203.0.113.7 sends more calls") == true)
                let data = try #require(error["error"]?["data"])
                #expect(data["status"]?.string == "RESOURCE_EXHAUSTED")
                guard case .integer(let milliseconds)? = data["retryAfterMilliseconds"]?.number else {
                    Issue.record("There is no delay")
                    return
                }
                // About the time until the calls of the batch have been refilled.
                #expect((1...1_210_000).contains(milliseconds))
                #expect(refused["retry-after"] == "\((milliseconds + 999) / 1_000)")
            }
            #expect(try await acceptedCount(server, "/v1/projects/p/databases/(default)/documents/a/b", client) == 0)
            #expect(try await acceptedCount(server, "/watch?document=a/b", client) == 0)
            for path in ["/health", "/health/ready", "/metrics", "/openrpc.json", "/", "/collections"] {
                #expect(try await acceptedCount(server, path, client) == 10, "\(path)")
            }
            for client in ["203.0.113.8", "2001:db8::1", "127.0.0.1"] {
                let body = try await withConnection(to: server) { connection in
                    try await connection.send("POST", "/rpc", ["X-Forwarded-For: \(client)", Self.json], body: Self.read)
                }
                #expect(body.status == 200, "\(client)")
            }
        }
    }

    @Test
    func `All addresses of a network of IPv6 count as one, and this machine is exempt`() async throws {
        try await withServer(configuration(addressBurst: 1)) { server in
            let overdraw = "[" + Array(repeating: Self.read, count: 1_000).joined(separator: ",") + "]"
            let client = ["X-Forwarded-For: 2001:db8::1", Self.json]
            let first = try await acceptedCount(server, "/rpc", client, body: overdraw)
            #expect(first == 1)
            let neighbor = ["X-Forwarded-For: 2001:db8::ffff", Self.json]
            let second = try await acceptedCount(server, "/rpc", neighbor, body: Self.read)
            #expect(second == 0)
            let local = try await acceptedCount(server, "/rpc", [Self.json], body: Self.read)
            #expect(local == 10)
        }
    }

    @Test
    func `A key over its rate gets 429, from whatever address, before its call is executed`() async throws {
        try await withServer(configuration(keyBurst: 2)) { server in
            let keys = [try await server.makeKey(.writer), try await server.makeKey(.writer)]
            let fields = keys.map { ["Authorization: Bearer \($0)", Self.json] }
            let overdraw = "[" + Array(repeating: Self.read, count: 1_000).joined(separator: ",") + "]"
            try await withConnection(to: server) { connection in
                #expect(try await connection.send("POST", "/rpc", fields[0], body: overdraw).status == 200)
                let write = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/b","fields":{}}}"#
                let refused = try await connection.send("POST", "/rpc", fields[0], body: write)
                #expect(refused.status == 429 && refused.body.contains("The key is used for more calls per second"))
                #expect(refused.body.contains("--call-rate-per-key"))
                let read = try await connection.send("POST", "/rpc", fields[1], body: Self.read)
                #expect(read.status == 200 && read.body.contains("NOT_FOUND"))
                let metrics = try await connection.send("GET", "/metrics", fields[0])
                #expect(metrics.body.contains("\nhearth_refused_calls_total{reason=\"key_rate\"} 1\n"))
                #expect(metrics.body.contains("\nhearth_refused_calls_total{reason=\"address_rate\"} 0\n"))
            }
        }
    }

    @Test
    func `Delays vary, so that clients which were refused together do not come back together`() async throws {
        try await withServer(configuration(addressBurst: 1, callsPerSecond: 1)) { server in
            let overdraw = "[" + Array(repeating: Self.read, count: 500).joined(separator: ",") + "]"
            let client = ["X-Forwarded-For: 203.0.113.7", Self.json]
            #expect(try await acceptedCount(server, "/rpc", client, body: overdraw) == 1)
            let delays = try await withConnection(to: server) { connection in
                var delays: Set<String> = []
                for _ in 0..<20 {
                    let refused = try await connection.send("POST", "/rpc", client, body: Self.read)
                    delays.insert(refused["retry-after"] ?? "")
                }
                return delays
            }
            #expect(delays.count > 5 && !delays.contains(""))
        }
    }
}
