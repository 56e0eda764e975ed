import Concurrency
import Foundation
import HearthAPI
import ServerTestSupport
import Synchronization
import Testing

@testable import HearthHTTP

/// Limits for clients that send too much or too slowly, or open too many connections.
@Suite(.timeLimit(.minutes(10))) struct RequestLimitTests {
    private static let json = "Content-Type: application/json"
    private static let call = #"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#

    @Test
    func `A connection over the limit gets 503 while all others have requests`() async throws {
        try await withServer(.standard.with(\.maximumConnections, 2)) { server in
            try await withConnection(to: server) { first in
                try await first.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: 1000000\r\n\r\n")
                try await withConnection(to: server) { second in
                    _ = try await second.stream("/watch?document=a/b", until: "\"current\"")
                    // The first request may still be on its way.
                    try await first.send([UInt8](repeating: UInt8(ascii: " "), count: 200_000))
                    while server.bodyBudget.reservedBytes < 200_000 { try await Task.sleep(for: .milliseconds(5)) }
                    for _ in 0..<3 {
                        try await withConnection(to: server) { third in
                            let rejected = try await third.response()
                            #expect(rejected.status == 503)
                            #expect(rejected["retry-after"] == "5")
                            #expect(rejected["connection"] == "close")
                            #expect(rejected.body.contains("The server has reached its limit of 2 connections"))
                            #expect(try await third.receiveAll().isEmpty)
                        }
                    }
                }
                // The server notices asynchronously that the second connection is closed.
                var status: Int? = 503
                while status == 503 {
                    status = try await withConnection(to: server) { try? await $0.send("GET", "/health").status } ?? 503
                }
                #expect(status == 200)
            }
        }
    }

    @Test
    func `Silent connections make room for new ones, the longest idle first`() async throws {
        try await withServer(.standard.with(\.maximumConnections, 3)) { server in
            try await withConnection(to: server) { active in
                #expect(try await active.send("GET", "/health").status == 200)
                try await withConnection(to: server) { silent in
                    #expect(try await silent.send("GET", "/health").status == 200)
                    try await withConnection(to: server) { incomplete in
                        #expect(try await incomplete.send("GET", "/health").status == 200)
                        // Part of a head is not a request.
                        try await incomplete.send("GET /hea")
                        // Makes this connection the one that has become idle last.
                        for _ in 0..<3 { #expect(try await active.send("GET", "/health").status == 200) }
                        try await withConnection(to: server) { first in
                            #expect(try await first.send("GET", "/health").status == 200)
                            try await withConnection(to: server) { second in
                                let response = try await second.send("GET", "/health")
                                #expect(response.status == 200)
                                #expect(try await silent.receiveAll().isEmpty)
                                // Its connection is reset if the part of a head has not been read.
                                _ = try? await incomplete.receiveAll()
                            }
                        }
                    }
                }
                #expect(try await active.send("GET", "/health").status == 200)
            }
        }
    }

    @Test
    func `Hundreds of silent connections shut nobody out`() async throws {
        try await withServer(.standard.with(\.maximumConnections, 64)) { server in
            try await withThrowingTaskGroup { group in
                let (openings, opened) = AsyncStream<Void>.makeStream()
                for _ in 0..<300 {
                    group.addTask {
                        try await withConnection(to: server) { silent in
                            opened.yield()
                            // Open until the server closes it, or the test ends.
                            _ = try? await silent.receiveAll()
                        }
                    }
                }
                _ = await openings.prefix(300).reduce(into: 0) { count, _ in count += 1 }
                // While the server still accepts silent connections, they can push out one whose request has not been read.
                var isAnswered = false
                while !isAnswered {
                    isAnswered = (try? await withConnection(to: server) { try await $0.send("GET", "/health").status }) == 200
                }
                for _ in 0..<50 {
                    let status = try await withConnection(to: server) { try await $0.send("GET", "/health").status }
                    #expect(status == 200)
                }
                group.cancelAll()
                while let result = await group.nextResult() { _ = result }
            }
        }
    }

    @Test(
        arguments: [(16, 8), (256, 128), (1_024, 512), (4_096, 2_560), (1_000_000, 8_192), (Int.max, 8_192), (0, 1)]
    )
    func `The connection limit leaves open files for the store`(limit: Int, connections: Int) {
        #expect(OpenFileLimit(limit).connections == connections)
    }

    @Test
    func `The open file limit is raised to the hard limit`() {
        let limit = OpenFileLimit.raise()
        #expect(limit == .current)
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        #expect(limits.rlim_cur == limits.rlim_max)
    }

    @Test
    func `Bodies over the memory limit get 503, while small ones are still accepted`() async throws {
        try await withServer(.standard.with(\.maximumBufferedBodyBytes, 400_000)) { server in
            try await withConnection(to: server) { slow in
                try await slow.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: 300000\r\n\r\n")
                try await slow.send([UInt8](repeating: UInt8(ascii: " "), count: 250_000))
                let large = Self.call + String(repeating: " ", count: 200_000)
                try await server.wait { server.bodyBudget.reservedBytes == 250_000 }
                let rejected = try await withConnection(to: server) {
                    try await $0.send("POST", "/rpc", [Self.json], body: large)
                }
                #expect(rejected.status == 503)
                #expect(rejected["retry-after"] == "1")
                #expect(rejected.body.contains(#""jsonrpc":"2.0","id":null"#))
                let small = try await withConnection(to: server) {
                    try await $0.send("POST", "/rpc", [Self.json], body: Self.call)
                }
                #expect(small.status == 200)
                try await slow.send(Self.call + String(repeating: " ", count: 50_000 - Self.call.utf8.count))
                #expect(try await slow.response().status == 200)
            }
            let later = try await withConnection(to: server) {
                try await $0.send("POST", "/rpc", [Self.json], body: Self.call + String(repeating: " ", count: 290_000))
            }
            #expect(later.status == 200)
        }
    }

    @Test(
        arguments: ["GET /health HTTP/1.1\r\n", "POST /rpc HTTP/1.1\r\nX-A: ", "GET /"]
    )
    func `A head that arrives too slowly times out`(prefix: String) async throws {
        try await withServer(.standard.with(\.headTimeout, .milliseconds(300))) { server in
            try await withConnection(to: server) { connection in
                #expect(try await connection.send("GET", "/health").status == 200)
                try await connection.send(prefix)
                let response = try await connection.response(whileSending: "X")
                #expect(response.status == 408)
                #expect(response["content-type"] == "application/json")
                #expect(response["connection"] == "close")
                connection.finishSending()
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test
    func `The head timeout does not apply to idle connections`() async throws {
        try await withServer(.standard.with(\.headTimeout, .milliseconds(50))) { server in
            try await withConnection(to: server) { connection in
                for _ in 0..<3 {
                    #expect(try await connection.send("GET", "/health").status == 200)
                    // An empty line does not start a head.
                    try await connection.send("\r\n")
                    // Wait until the head of another connection has timed out.
                    let late = try await withConnection(to: server) { other in
                        try await other.send("GET /")
                        return try await other.response()
                    }
                    #expect(late.status == 408)
                }
            }
        }
    }

    @Test(
        arguments: [
            "Content-Length: 1000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n",
            "Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n",
        ]
    )
    func `A body that arrives too slowly times out`(framing: String) async throws {
        try await withServer(.standard.with(\.bodyTimeout, .milliseconds(300))) { server in
            try await withConnection(to: server) { connection in
                try await connection.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\n\(framing)")
                let drop = framing.utf8.starts(with: "T".utf8) ? "1\r\n \r\n" : " "
                var response = try await connection.response(whileSending: drop)
                if response.status == 100 { response = try await connection.response(whileSending: drop) }
                #expect(response.status == 408)
                #expect(response.body.contains("300 ms"))
                #expect(response["connection"] == "close")
            }
        }
    }

    @Test
    func `A body at the minimum rate may take longer than the body timeout`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.bodyTimeout, .seconds(1)).with(\.minimumBodyRate, 10)
        try await withServer(configuration) { server in
            try await withConnection(to: server) { connection in
                let size = 400
                try await connection.send(
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: \(size)\r\n\r\n"
                )
                // At the minimum rate, these bytes extend the timeout by half a minute.
                try await connection.send(Self.call + String(repeating: " ", count: 300 - Self.call.utf8.count))
                // Another connection, which sends nothing, times out earlier.
                let late = try await withConnection(to: server) { other in
                    try await other.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: 9\r\n\r\n")
                    return try await other.response()
                }
                #expect(late.status == 408)
                #expect(late.body.contains("10 bytes per second"))
                try await connection.send(String(repeating: " ", count: 100))
                #expect(try await connection.response().status == 200)
            }
        }
    }

    @Test
    func `Many connections with incomplete requests don't delay others`() async throws {
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                for index in 0..<50 {
                    let prefix = [
                        "", "GET /hea", "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: 900\r\n\r\n ",
                    ][index % 3]
                    group.addTask {
                        try await withConnection(to: server) { connection in
                            try await connection.send(prefix)
                            // Stay open until the other requests are done.
                            _ = try? await connection.receiveAll()
                        }
                    }
                }
                try await withConnection(to: server) { connection in
                    for _ in 0..<100 {
                        let response = try await connection.send("POST", "/rpc", [Self.json], body: Self.call)
                        #expect(response.status == 200)
                    }
                }
                group.cancelAll()
                while let result = await group.nextResult() { _ = result }
            }
        }
    }

    @Test(
        arguments: ["9223372036854775808", "18446744073709551615"]
    )
    func `A Content-Length beyond Int is rejected as too large`(length: String) async throws {
        try await withServer { server in
            for fields in ["", "Expect: 100-continue\r\n"] {
                try await withConnection(to: server) { connection in
                    try await connection.send(
                        "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\n\(fields)Content-Length: \(length)\r\n\r\n"
                    )
                    let response = try await connection.response()
                    #expect(response.status == 413)
                    #expect(response["connection"] == "close")
                }
            }
        }
    }

    @Test(
        arguments: [
            "Content-Length: 18446744073709551616\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n",
        ]
    )
    func `A length or chunk size beyond 64 bits is malformed`(framing: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\n\(framing)")
                let response = try await connection.response()
                #expect(response.status == 400)
                #expect(response.body.contains(#""error":{"code":3"#))
                #expect(response["connection"] == "close")
            }
        }
    }

    @Test
    func `A chunk with the maximum size is limited by the bytes that arrive`() async throws {
        try await withServer(.standard.with(\.bodyTimeout, .milliseconds(200)), limits: ServiceLimits(maximumBodyBytes: 1_000)) {
            server in
            for (sent, status) in [(1_001, 413), (10, 408)] {
                try await withConnection(to: server) { connection in
                    try await connection.send(
                        "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"
                            + String(repeating: " ", count: sent)
                    )
                    let response = try await connection.response()
                    #expect(response.status == status)
                    #expect(response["connection"] == "close")
                }
            }
        }
    }

    @Test
    func `Large bodies are processed on separate threads, and the largest with limited concurrency`() async {
        let executor = LargeBodyExecutor(limit: 2)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let gauge = Gauge()
        let release = DispatchSemaphore(value: 0)
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        await withTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    await executor.run(bodyBytes: LargeBodyExecutor.largeBytes + 1) { _ in
                        gauge.rise()
                        begin.yield()
                        // Blocks its thread, as a parser does.
                        #expect(Self.wait(for: release, atMost: 300))
                        gauge.fall()
                    }
                }
            }
            var iterator = begun.makeAsyncIterator()
            for _ in 0..<2 { await iterator.next() }
            // On the cooperative pool, this would not be reached before the blocked operations end.
            #expect(gauge.level == 2)
            #expect(await executor.run(bodyBytes: LargeBodyExecutor.smallBodyBytes) { $0 == nil })
            // A medium-sized body does not wait for the largest.
            #expect(await executor.run(bodyBytes: LargeBodyExecutor.largeBytes) { $0 != nil })
            // Nor does a batch.
            #expect(await executor.run(bodyBytes: 1, isBatch: true) { $0 != nil })
            for _ in 0..<count { release.signal() }
        }
        #expect(gauge.maximum == 2)
    }

    private static func wait(for semaphore: DispatchSemaphore, atMost seconds: Double) -> Bool {
        semaphore.wait(timeout: .now() + seconds) == .success
    }

    @Test
    func `A call with a large body is executed`() async throws {
        try await withServer { server in
            let elements = String(repeating: "1,", count: 7_000_000)
            let body = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":["a/b",{"x":[\#(elements)1]}]}"#
            let response = try await withConnection(to: server) { try await $0.send("POST", "/rpc", [Self.json], body: body) }
            #expect(response.status == 200)
            #expect(response.body.contains("Expected a document of at most 1048576 bytes, found more than twice that size."))
        }
    }
}

/// Measures concurrency.
private final class Gauge: Sendable {
    private let state = Mutex((level: 0, maximum: 0))

    var level: Int {
        state.withLock { $0.level }
    }

    var maximum: Int {
        state.withLock { $0.maximum }
    }

    func rise() {
        state.withLock { state in
            state.level += 1
            state.maximum = max(state.maximum, state.level)
        }
    }

    func fall() {
        state.withLock { $0.level -= 1 }
    }
}
