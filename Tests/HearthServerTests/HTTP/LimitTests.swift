import Foundation
import HearthService
import Synchronization
import Testing

@testable import HearthServer

/// What clients that send too much, too slowly or from too many connections can't do to others.
@Suite(.timeLimit(.minutes(1))) struct LimitTests {
    private static let json = "Content-Type: application/json"
    private static let call = #"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#

    @Test("A connection too many is told so and closed, and makes room for no other; the others go on")
    func connections() async throws {
        try await withServer(.standard.with(\.maximumConnections, 2)) { server in
            try await withConnection(to: server) { first in
                #expect(try await first.ask("GET", "/health").status == 200)
                try await withConnection(to: server) { second in
                    #expect(try await second.ask("GET", "/health").status == 200)
                    for _ in 0..<3 {
                        try await withConnection(to: server) { third in
                            let refused = try await third.response()
                            #expect(refused.status == 503)
                            #expect(refused["retry-after"] == "5")
                            #expect(refused["connection"] == "close")
                            #expect(refused.body.contains("2 connections are open"))
                            #expect(try await third.receiveAll().isEmpty)
                        }
                    }
                    #expect(try await first.ask("GET", "/health").status == 200)
                }
                // The server hears of the second's end in its own time.
                var status: Int? = 503
                while status == 503 {
                    status = try await withConnection(to: server) { try? await $0.ask("GET", "/health").status } ?? 503
                }
                #expect(status == 200)
            }
        }
    }

    @Test(
        "The limit of open files leaves room for the store's",
        arguments: [(16, 8), (256, 128), (1_024, 512), (4_096, 2_560), (1_000_000, 8_192), (Int.max, 8_192), (0, 1)]
    )
    func openFiles(limit: Int, connections: Int) {
        #expect(OpenFileLimit(limit).connections == connections)
    }

    @Test("The limit of open files is raised to what it may be")
    func raising() {
        let limit = OpenFileLimit.raise()
        #expect(limit == .current)
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        #expect(limits.rlim_cur == limits.rlim_max)
    }

    @Test("Bodies that together take more memory than there is for them are refused, and small ones still get through")
    func heldBodies() async throws {
        try await withServer(.standard.with(\.maximumHeldBodyBytes, 400_000)) { server in
            try await withConnection(to: server) { slow in
                try await slow.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: 300000\r\n\r\n")
                try await slow.send([UInt8](repeating: UInt8(ascii: " "), count: 250_000))
                let large = Self.call + String(repeating: " ", count: 200_000)
                try await server.wait { server.bodies.held == 250_000 }
                let refused = try await withConnection(to: server) {
                    try await $0.ask("POST", "/rpc", [Self.json], body: large)
                }
                #expect(refused.status == 503)
                #expect(refused["retry-after"] == "1")
                #expect(refused.body.contains(#""jsonrpc":"2.0","id":null"#))
                let small = try await withConnection(to: server) {
                    try await $0.ask("POST", "/rpc", [Self.json], body: Self.call)
                }
                #expect(small.status == 200)
                try await slow.send(Self.call + String(repeating: " ", count: 50_000 - Self.call.utf8.count))
                #expect(try await slow.response().status == 200)
            }
            let later = try await withConnection(to: server) {
                try await $0.ask("POST", "/rpc", [Self.json], body: Self.call + String(repeating: " ", count: 290_000))
            }
            #expect(later.status == 200)
        }
    }

    @Test("A share of the memory for bodies is room for others once it is given back")
    func shares() {
        let budget = BodyBudget(limit: 400_000)
        let (large, small) = (BodyBudget.Share(of: budget), BodyBudget.Share(of: budget))
        #expect(large.take(300_000))
        #expect(!large.take(1))
        #expect(small.take(64 << 10))
        #expect(!small.take(1))
        large.giveBack()
        #expect(small.take(200_000))
        small.giveBack()
        #expect(large.take(300_000))
    }

    @Test(
        "A head that comes drop by drop is cut off",
        arguments: ["GET /health HTTP/1.1\r\n", "POST /rpc HTTP/1.1\r\nX-A: ", "GET /"]
    )
    func drippedHead(beginning: String) async throws {
        try await withServer(.standard.with(\.headTimeout, .milliseconds(300))) { server in
            try await withConnection(to: server) { connection in
                #expect(try await connection.ask("GET", "/health").status == 200)
                try await connection.send(beginning)
                let response = try await connection.response(whileSending: "X")
                #expect(response.status == 408)
                #expect(response["content-type"] == "application/json")
                #expect(response["connection"] == "close")
                connection.finishSending()
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test("A connection may be idle for longer than a head may take")
    func idleBetweenRequests() async throws {
        try await withServer(.standard.with(\.headTimeout, .milliseconds(50))) { server in
            try await withConnection(to: server) { connection in
                for _ in 0..<3 {
                    #expect(try await connection.ask("GET", "/health").status == 200)
                    // An empty line is no beginning of a head.
                    try await connection.send("\r\n")
                    // Another one's head has been waited for since.
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
        "A body that comes drop by drop is cut off",
        arguments: [
            "Content-Length: 1000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n",
            "Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n",
        ]
    )
    func drippedBody(framing: String) async throws {
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

    @Test("A body that comes steadily may take longer than one that does not")
    func steadyBody() async throws {
        let configuration = HearthServerConfiguration.standard.with(\.bodyTimeout, .seconds(1)).with(\.minimumBodyRate, 10)
        try await withServer(configuration) { server in
            try await withConnection(to: server) { connection in
                let size = 400
                try await connection.send(
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: \(size)\r\n\r\n"
                )
                // What has come by now is good for half a minute.
                try await connection.send(Self.call + String(repeating: " ", count: 300 - Self.call.utf8.count))
                // The time of another one, which sends nothing, is over before.
                let late = try await withConnection(to: server) { other in
                    try await other.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: 9\r\n\r\n")
                    return try await other.response()
                }
                #expect(late.status == 408)
                #expect(late.body.contains("10 bytes a second"))
                try await connection.send(String(repeating: " ", count: 100))
                #expect(try await connection.response().status == 200)
            }
        }
    }

    @Test("Many connections that send half of a request, or drop by drop, keep nobody else waiting")
    func halfOpen() async throws {
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                for index in 0..<50 {
                    let beginning = [
                        "", "GET /hea", "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: 900\r\n\r\n ",
                    ][index % 3]
                    group.addTask {
                        try await withConnection(to: server) { connection in
                            try await connection.send(beginning)
                            // Until the others are done.
                            _ = try? await connection.receiveAll()
                        }
                    }
                }
                try await withConnection(to: server) { connection in
                    for _ in 0..<100 {
                        let response = try await connection.ask("POST", "/rpc", [Self.json], body: Self.call)
                        #expect(response.status == 200)
                    }
                }
                group.cancelAll()
                while let result = await group.nextResult() { _ = result }
            }
        }
    }

    @Test(
        "A length that is no length is refused at once, as one that is too large",
        arguments: ["9223372036854775808", "18446744073709551615"]
    )
    func hugeLength(length: String) async throws {
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
        "A length or chunk beyond 64 bits is refused as no HTTP",
        arguments: [
            "Content-Length: 18446744073709551616\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n",
        ]
    )
    func impossibleLength(framing: String) async throws {
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

    @Test("A chunk that is announced as the largest number is taken for what comes of it")
    func hugeChunk() async throws {
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

    @Test("Work on bodies that are not small leaves the threads of all tasks to others, and on the largest is done in turn")
    func largeBodies() async {
        let bodies = LargeBodies(limit: 2)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let gauge = Gauge()
        let release = DispatchSemaphore(value: 0)
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        await withTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    await bodies.work(onBodyOf: LargeBodies.largeBytes + 1) { _ in
                        gauge.rise()
                        begin.yield()
                        // As a parser does, this keeps its thread until it is done.
                        #expect(Self.wait(for: release, atMost: 30))
                        gauge.fall()
                    }
                }
            }
            var iterator = begun.makeAsyncIterator()
            for _ in 0..<2 { await iterator.next() }
            // If these threads were those of all tasks, nobody could come here before the work is done.
            #expect(gauge.level == 2)
            #expect(await bodies.work(onBodyOf: LargeBodies.smallBytes) { $0 == nil })
            // One that is neither small nor among the largest does not wait for those.
            #expect(await bodies.work(onBodyOf: LargeBodies.largeBytes) { $0 != nil })
            // Neither does a batch.
            #expect(await bodies.work(onBodyOf: 1, isBatch: true) { $0 != nil })
            for _ in 0..<count { release.signal() }
        }
        #expect(gauge.most == 2)
    }

    private static func wait(for semaphore: DispatchSemaphore, atMost seconds: Double) -> Bool {
        semaphore.wait(timeout: .now() + seconds) == .success
    }

    @Test("A large body is answered as a small one is")
    func largeCall() async throws {
        try await withServer { server in
            let elements = String(repeating: "1,", count: 7_000_000)
            let body = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":["a/b",{"x":[\#(elements)1]}]}"#
            let response = try await withConnection(to: server) { try await $0.ask("POST", "/rpc", [Self.json], body: body) }
            #expect(response.status == 200)
            #expect(response.body.contains("Expected a document of at most 1048576 bytes, found more than twice as many."))
        }
    }
}

/// Counts what is going on at the same time.
private final class Gauge: Sendable {
    private let state = Mutex((level: 0, most: 0))

    var level: Int {
        state.withLock { $0.level }
    }

    var most: Int {
        state.withLock { $0.most }
    }

    func rise() {
        state.withLock { state in
            state.level += 1
            state.most = max(state.most, state.level)
        }
    }

    func fall() {
        state.withLock { $0.level -= 1 }
    }
}
