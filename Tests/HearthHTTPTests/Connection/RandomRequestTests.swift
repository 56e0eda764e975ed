import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import HearthHTTP

/// Random mutations of valid requests: the server responds in HTTP or closes the connection, and continues to serve others.
///
/// `HEARTH_RANDOM_REQUESTS` sets their number.
@Suite(.tags(.slow), .timeLimit(.minutes(60))) struct RandomRequestTests {
    private static let count = ProcessInfo.processInfo.environment["HEARTH_RANDOM_REQUESTS"].flatMap { Int($0) } ?? 300
    private static let seed = SeededGenerator.currentSeed

    private static let requests: [String] = [
        RawConnection.request(
            "POST",
            "/rpc",
            ["Content-Type: application/json"],
            body: #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
        ),
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        RawConnection.request(
            "GET",
            "/watch?collection=a&heartbeat=1&from=now&include=paths",
            ["Accept: text/event-stream", "Last-Event-ID: AA"]
        ),
        RawConnection.request("GET", "/watch?query=%7B%22collection%22%3A%22a%22%7D&format=ndjson&resume=AmIDH39B", []),
        RawConnection.request("GET", "/openrpc.json", ["If-None-Match: \"x\"", "Authorization: Bearer fsk_5f0c1e9ab3d2_AAAA"]),
        RawConnection.request(
            "POST",
            "/watch",
            ["Content-Type: application/json", "Expect: 100-continue"],
            body: #"{"document":"a/b","limit":1}"#
        ),
        RawConnection.request(
            "POST",
            "/v1/projects/p/databases/(default)/documents:runQuery?$alt=json",
            ["Content-Type: text/plain", "X-Goog-Api-Client: x"],
            body: #"{"structuredQuery":{"from":[{"collectionId":"a"}],"limit":1}}"#
        ),
        RawConnection.request("GET", "/v1/projects/p/databases/%28default%29/documents/a?orderBy=b%20desc&pageSize=3", []),
        "GET /health HTTP/1.0\r\nHost: [::1]:80\r\nConnection: keep-alive\r\nOrigin: http://[::1]:80\r\nSec-Fetch-Site: same-origin\r\n\r\n",
    ]
    private static let tokens = [
        "\r\n", "\r\n\r\n", ":", " ", "%", "%00", "%ff", "+5", "\u{0}", "\u{ff}", "HTTP/1.1", "chunked", "Host: x\r\n",
        "Content-Length: 5\r\n",
        "Authorization: Bearer \u{e9}\r\n", "Authorization: Basic\r\n", "Transfer-Encoding: gzip\r\n", "?", "&", "=", "#", "//",
        "..", "\"", ";q=0", ",",
    ]

    @Test
    func `Any input gets an HTTP response or none, and others are served`() async throws {
        try await withServer { server in
            var generator = SeededGenerator(seed: Self.seed)
            for _ in 0..<Self.count {
                var bytes = (0...Int.random(in: 0...1, using: &generator)).flatMap { _ in
                    Array((Self.requests.randomElement(using: &generator) ?? "").utf8)
                }
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let start = Int.random(in: 0...bytes.count, using: &generator)
                    let end = min(bytes.count, start + Int.random(in: 0...8, using: &generator))
                    if generator.chance(40) { bytes.removeSubrange(start..<end) }
                    bytes.insert(
                        contentsOf: Array((Self.tokens.randomElement(using: &generator) ?? "").utf8),
                        at: min(start, bytes.count)
                    )
                }
                let sent = bytes
                let received = try await withConnection(to: server) { connection in
                    // The server may have closed the connection.
                    try? await connection.send(sent)
                    connection.finishSending()
                    // Only the status line, since a stream would not end.
                    return (try? await connection.receive("HTTP/1.1 200".utf8.count)) ?? []
                }
                let isHTTP = received.isEmpty || received.starts(with: "HTTP/1.".utf8)
                #expect(
                    isHTTP,
                    "HEARTH_TEST_SEED=\(Self.seed): \(String(decoding: sent, as: UTF8.self)) → \(String(decoding: received, as: UTF8.self))"
                )
                #expect(
                    !received.starts(with: "HTTP/1.1 500".utf8),
                    "HEARTH_TEST_SEED=\(Self.seed): \(String(decoding: sent, as: UTF8.self))"
                )
            }
            let health = try await withConnection(to: server) { try await $0.send("GET", "/health") }
            #expect(health.status == 200)
        }
    }
}
