import DocumentModel
import DocumentStore
import HearthAPI
import ServerTestSupport
import StrictJSON
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import HearthHTTP

/// The watch contract, over connections that break at random bytes while several writers commit.
@Suite(.tags(.slow), .serialized, .timeLimit(.minutes(10))) struct WatchContractTests {
    /// A target, the equivalent query, and whether every commit preserves the sum over it.
    struct Target: CustomTestStringConvertible, Sendable {
        let parameter: String
        let query: String
        var keepsSum = false
        var isRanked = false

        var testDescription: String { parameter }

        static let all = [
            Target(parameter: "collection=c", query: #"{"collection":"c"}"#, keepsSum: true),
            Target(parameter: "collectionGroup=c", query: #"{"collectionGroup":"c"}"#, keepsSum: true),
            Target(query: #"{"collection":"c","where":{"field":"v","op":">","value":3}}"#),
            Target(query: #"{"collection":"c","orderBy":[{"field":"v"}],"limit":4}"#, isRanked: true),
            Target(
                query:
                    #"{"collection":"c","where":{"field":"v","op":"<","value":50},"orderBy":[{"field":"v","direction":"desc"}],"offset":1,"limit":5}"#,
                isRanked: true
            ),
        ]

        init(parameter: String, query: String, keepsSum: Bool) {
            self.parameter = parameter
            self.query = query
            self.keepsSum = keepsSum
        }

        init(query: String, isRanked: Bool = false) {
            self.parameter = "query=" + PercentEncoding.encode(UTF8Key(query))
            self.query = query
            self.isRanked = isRanked
        }
    }

    @Test(
        arguments: Target.all,
        ["ndjson", "sse"]
    )
    func `A stream that is cut at any byte and resumed is ordered, unique, complete and atomic`(
        target: Target,
        format: String
    ) async throws {
        let seed = SeededGenerator.currentSeed
        let end = End()
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                for watcher in 0..<2 {
                    group.addTask {
                        let checker = try await Self.watch(target, format, seed: seed &+ UInt64(watcher), in: server, until: end)
                        #expect(checker.violations == [], "HEARTH_TEST_SEED=\(seed)")
                        #expect(checker.cutCount >= 3)
                        try await Self.check(checker, target, in: server)
                    }
                }
                group.addTask {
                    try await Self.writeAll(seed, in: server.context)
                    end.sequence.withLock { $0 = Int64(server.context.store.position.lastSequence.rawValue) }
                }
                try await group.waitForAll()
            }
        }
    }

    /// The sequence number of the last commit, once it is known.
    private final class End: Sendable {
        let sequence = Mutex<Int64?>(nil)
    }

    /// Watches until the last commit has been received, over connections that are cut at random.
    private static func watch(
        _ target: Target,
        _ format: String,
        seed: UInt64,
        in server: InProcessServer,
        until end: End
    ) async throws -> WatchContractChecker {
        var generator = SeededGenerator(seed: seed)
        var checker = WatchContractChecker(format: format) { state in
            let sum = state.documents.values.reduce(0) { $0 + ($1["fields"]?["v"]?.number?.integer ?? 0) }
            return target.keepsSum && sum != 0 ? "the sum is \(sum)" : nil
        }
        while true {
            let last = end.sequence.withLock(\.self)
            if let last, checker.sequence >= last, checker.cutCount >= 3 { return checker }
            // Short at first, to ensure that connections are cut, and eventually long enough to finish.
            let longest = checker.cutCount < 3 ? (last == nil ? 2_000 : 100) : last == nil ? 6_000 : 400_000
            let budget = Int.random(in: 1...longest, using: &generator)
            let resume = checker.token.map { "&resume=\($0)" } ?? ""
            checker.connect()
            let connected = checker
            checker = try await withConnection(to: server) { connection in
                var checker = connected
                var remaining = budget
                let request = "/watch?\(target.parameter)&format=\(format)&include=before&heartbeat=1&limit=100\(resume)"
                try await connection.send(RawConnection.request("GET", request))
                #expect(try await connection.responseHead().status == 200)
                while remaining > 0, let chunk = try await connection.chunkBytes(),
                    checker.cutCount < 3 || end.sequence.withLock(\.self).map({ checker.sequence < $0 }) ?? true
                {
                    let bytes = Array(chunk.prefix(remaining))
                    remaining -= bytes.count
                    checker.receive(bytes)
                }
                if remaining <= 0 { checker.cut() }
                return checker
            }
        }
    }

    /// Commits pairs of documents whose values sum to zero, from several writers.
    private static func writeAll(_ seed: UInt64, in context: ServiceContext) async throws {
        try await withThrowingTaskGroup { group in
            for writer in 0..<3 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(100 + writer))
                    for round in 0..<40 as Range<Int64> {
                        let pair = "c/\(writer)-\(Int.random(in: 0..<5, using: &generator))"
                        let value = Int64.random(in: -99...99, using: &generator)
                        let text = Value.string("a\u{2028}\r\n\(String(repeating: "é", count: 20))")
                        var writes = try [("a", value), ("b", -value)].map { half, value in
                            try Write.set(
                                DocumentPath(pair + half),
                                ["v": .integer(value), "text": text, "round": .integer(round)]
                            )
                        }
                        if generator.chance(20) { writes = try ["a", "b"].map { .delete(try DocumentPath(pair + $0)) } }
                        if generator.chance(20) { writes.append(try .set(DocumentPath("other/x"), ["round": .integer(round)])) }
                        _ = try await context.store.commit(writes)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Verifies that the client's final state equals the database, byte by byte.
    private static func check(_ checker: WatchContractChecker, _ target: Target, in server: InProcessServer) async throws {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"query.run","params":\#(target.query)}"#
        let reply = try JSONText(try await withConnection(to: server) { try await $0.call(call) }).root
        let documents = Array(try #require(reply["result"]?["documents"]?.elements))
        let text = { (node: JSONNode) in
            // Streams escape Unicode line terminators.
            Array(node.rawBytes).replacing(Array("\u{2028}".utf8), with: Array("\\u2028".utf8))
        }
        #expect(
            Set(documents.map { text($0) }) == Set(checker.state.documents.values.map { Array($0.rawBytes) }),
            "\(target.parameter)"
        )
        if target.isRanked { #expect(checker.state.ranking == documents.compactMap { $0["path"]?.string.map { UTF8Key($0) } }) }
    }
}

extension JSONNumber {
    fileprivate var integer: Int64 {
        if case .integer(let integer) = self { integer } else { 0 }
    }
}
