import DocumentModel
import DocumentStore
import HearthService
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import HearthServer

/// What streams promise, over connections that break at random bytes while many write.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WatchGuaranteeTests {
    /// A target, the method that shows what it holds, and whether every commit leaves the sum over it as it is.
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
        "Cut at any byte and resumed, a stream is ordered, unique, reliable, atomic, resumable and bookmarkable",
        arguments: Target.all,
        ["ndjson", "sse"]
    )
    func contract(target: Target, format: String) async throws {
        let seed = SeededGenerator.currentSeed
        let end = End()
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                for watcher in 0..<2 {
                    group.addTask {
                        let history = try await Self.watch(target, format, seed: seed &+ UInt64(watcher), in: server, until: end)
                        #expect(history.faults == [], "HEARTH_TEST_SEED=\(seed)")
                        #expect(history.cutCount >= 3)
                        try await Self.check(history, target, in: server)
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

    /// The last commit, once it is known.
    private final class End: Sendable {
        let sequence = Mutex<Int64?>(nil)
    }

    /// Watches until everything has come, over connections that are cut after so many bytes.
    private static func watch(
        _ target: Target,
        _ format: String,
        seed: UInt64,
        in server: TestServer,
        until end: End
    ) async throws -> StreamHistory {
        var generator = SeededGenerator(seed: seed)
        var history = StreamHistory(format: format) { state in
            let sum = state.documents.values.reduce(0) { $0 + ($1["fields"]?["v"]?.number?.integer ?? 0) }
            return target.keepsSum && sum != 0 ? "the sum is \(sum)" : nil
        }
        while true {
            let last = end.sequence.withLock(\.self)
            if let last, history.sequence >= last, history.cutCount >= 3 { return history }
            // Short at first, whoever is faster, and long enough in the end to get to the end.
            let longest = history.cutCount < 3 ? 2_000 : last == nil ? 6_000 : 400_000
            let budget = Int.random(in: 1...longest, using: &generator)
            let resume = history.token.map { "&resume=\($0)" } ?? ""
            history.connect()
            let begun = history
            history = try await withConnection(to: server) { connection in
                var history = begun
                var rest = budget
                let request = "/watch?\(target.parameter)&format=\(format)&include=before&heartbeat=1&limit=100\(resume)"
                try await connection.send(RawConnection.request("GET", request))
                #expect(try await connection.responseHead().status == 200)
                while rest > 0, let chunk = try await connection.chunkBytes(),
                    end.sequence.withLock(\.self).map({ history.sequence < $0 }) ?? true
                {
                    let taken = Array(chunk.prefix(rest))
                    rest -= taken.count
                    history.take(taken)
                }
                if rest <= 0 { history.cut() }
                return history
            }
        }
    }

    /// Commits pairs of documents whose numbers cancel each other out, from several writers.
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

    /// Makes sure that what a client ended up with is what the database holds, byte by byte.
    private static func check(_ history: StreamHistory, _ target: Target, in server: TestServer) async throws {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"query.run","params":\#(target.query)}"#
        let reply = try JSONText(try await withConnection(to: server) { try await $0.call(call) }).root
        let documents = Array(try #require(reply["result"]?["documents"]?.elements))
        let text = { (node: JSONNode) in
            // Streams escape what ends a line somewhere.
            Array(node.rawBytes).replacing(Array("\u{2028}".utf8), with: Array("\\u2028".utf8))
        }
        #expect(
            Set(documents.map { text($0) }) == Set(history.state.documents.values.map { Array($0.rawBytes) }),
            "\(target.parameter)"
        )
        if target.isRanked { #expect(history.state.ranking == documents.compactMap { $0["path"]?.string.map { UTF8Key($0) } }) }
    }
}

extension JSONNumber {
    fileprivate var integer: Int64 {
        if case .integer(let integer) = self { integer } else { 0 }
    }
}
