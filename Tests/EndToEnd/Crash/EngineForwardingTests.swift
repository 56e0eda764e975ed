import DocumentModel
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing

/// Servers that write one database of an engine, and forward their commits to the one that has the lease, while servers end, stand still or
/// lose their network.
@Suite("Servers that forward commits", EngineServer.condition, .tags(.slow, .crash))
struct EngineForwardingTests {
    /// The number of servers that are killed, two in a round. `HEARTH_ENGINE_KILLS` sets it.
    private static let killCount = CrashRandom.environmentNumber("HEARTH_ENGINE_KILLS") ?? 6

    /// Returns an engine whose commits take a few milliseconds, so that servers wait for each other.
    private static func makeEngine(_ settings: [String] = []) async throws -> EngineServer {
        try await EngineServer(["commit_delay=3000", "commit_siblings=0"] + settings)
    }

    /// Starts a server that other servers can reach.
    private static func start(_ engine: String, _ folder: URL) async throws -> CrashServer {
        try await CrashServer(
            engine: engine,
            folder: folder.appendingPathComponent(UUID().uuidString),
            arguments: ["--server-url", "http://127.0.0.1:0"] + patience
        )
    }

    /// Commits wait as long as a server that stands still has the lock, so that no writer gives up.
    private static let patience = ["--queue-ms", "0"]

    /// The arguments of a server that others can reach at an address.
    private static func arguments(on address: String) -> [String] {
        ["--host", address, "--server-url", "http://\(address):0"] + patience
    }

    /// Returns the number of commits that a server has forwarded.
    private static func forwardedCount(_ server: CrashServer) async throws -> Int {
        let metrics = String(decoding: try await server.connection.contents(at: "/metrics"), as: UTF8.self)
        let line = metrics.split(separator: "\n").first { $0.hasPrefix("hearth_engine_forwarded_commits_total ") }
        return line.flatMap { Double($0.split(separator: " ")[1]) }.map { Int($0) } ?? 0
    }

    /// Waits until two servers have forwarded further commits.
    private static func waitForForwards(_ count: Int, by servers: (CrashServer, CrashServer)) async throws {
        func total() async throws -> Int { try await forwardedCount(servers.0) + forwardedCount(servers.1) }
        let start = try await total()
        try await eventually { try await total() >= start + count }
    }

    /// Waits for further acknowledgements.
    private static func wait(for count: Int, in recorder: CommitRecorder) async throws {
        let start = recorder.history.acknowledgedCount
        try await eventually { recorder.history.acknowledgedCount >= start + count }
    }

    /// The loads of two servers, and what they have done so far.
    private struct Loads {
        let first: CommitLoad
        let second: CommitLoad
        var history: CommitHistory

        init() throws {
            first = try CommitLoad()
            second = try CommitLoad()
            history = CommitHistory(groups: first.groups)
        }

        /// Runs both until `body` has stopped the servers. Before, writers go on after errors: there is nothing to forward without them.
        mutating func run(
            _ servers: (CrashServer, CrashServer),
            _ random: CrashRandom,
            _ body: @escaping @Sendable (CommitRecorder) async throws -> Void
        ) async throws {
            let recorder = CommitRecorder(history)
            var random = random
            let streams = (CrashRandom(stream: random.next()), CrashRandom(stream: random.next()))
            let hasEnded = Atomic(false)
            let goesOn: @Sendable () -> Bool = { !hasEnded.load(ordering: .relaxed) }
            async let report = first.run(on: servers.0, recorder: recorder, random: streams.0, goesOn: goesOn) {
                defer { hasEnded.store(true, ordering: .relaxed) }
                try await body(recorder)
            }
            async let other = second.run(on: servers.1, recorder: recorder, random: streams.1, goesOn: goesOn) {}
            do {
                let inconsistencies = try await report.inconsistencies + other.inconsistencies
                #expect(inconsistencies == [], "HEARTH_TEST_SEED=\(CrashRandom.seed)")
            } catch {
                for server in [servers.0, servers.1] { server.process.send(SIGKILL) }
                throw error
            }
            for server in [servers.0, servers.1] { await server.connection.shutdown() }
            history = recorder.history
        }

        /// Begins to watch an empty database.
        func openWatchers(on server: CrashServer) async throws {
            for load in [first, second] { try await load.openWatchers(on: server) }
        }

        /// Checks a server against all that was acknowledged.
        mutating func check(_ server: CrashServer, _ folder: URL, _ comment: Comment) async throws {
            let (snapshot, violations) = try await history.check(server, data: folder, disk: false)
            #expect(violations == [], comment)
            for load in [first, second] {
                let inconsistencies = try await load.watchers.check(on: server.connection, against: snapshot)
                #expect(inconsistencies == [], comment)
            }
            history.rebase(snapshot)
        }
    }

    /// Expects that the commits in the engine have one order.
    private static func expectDenseLog(_ engine: EngineServer, _ name: String) async throws {
        let gaps = """
            SELECT count(*) FROM (
                SELECT seq - row_number() OVER (ORDER BY seq) AS d, time <= lag(time) OVER (ORDER BY seq) AS late FROM hearth.commits
            ) s WHERE d <> (SELECT min(seq) - 1 FROM hearth.commits) OR late
            """
        #expect(try await engine.query(gaps, in: name) == "0")
    }

    @Test(.timeLimit(.minutes(240)))
    func `Servers that are killed under load, with the lease and without, lose no commit and make none twice`() async throws {
        print("Killing \(Self.killCount) servers of an engine: HEARTH_TEST_SEED=\(CrashRandom.seed)")
        let engine = try await Self.makeEngine()
        let name = try await engine.makeDatabase()
        let url = engine.url(name)
        try await withTemporaryFolder { folder in
            var loads = try Loads()
            var (kills, acknowledged, forwarded) = (0, 0, 0)
            while kills < Self.killCount {
                let round = UInt64(kills / 2 + 1)
                var random = CrashRandom(stream: round)
                let first = try await Self.start(url, folder)
                try await first.killingOnError {
                    if round == 1 { try await loads.openWatchers(on: first) }
                    try await loads.check(first, folder, "before round \(round), HEARTH_TEST_SEED=\(CrashRandom.seed)")
                }
                let second = try await Self.start(url, folder)
                let (time, swaps) = (Int.random(in: 50_000...800_000, using: &random), random.chance(50))
                let counts = AsyncStream<Int>.makeStream()
                try await loads.run((first, second), random) { recorder in
                    // The lease of a server that was killed before expires first.
                    try await Self.waitForForwards(5, by: (first, second))
                    try await Task.sleep(for: .microseconds(time))
                    let (killed, other) = swaps ? (second, first) : (first, second)
                    let count = try await Self.forwardedCount(killed)
                    _ = try await killed.process.end(with: SIGKILL)
                    try await Self.wait(for: 30, in: recorder)
                    counts.continuation.yield(count + (try await Self.forwardedCount(other)))
                    counts.continuation.finish()
                    _ = try await other.process.end(with: SIGKILL)
                }
                for await count in counts.stream { forwarded += count }
                acknowledged += loads.history.acknowledgedCount
                kills += 2
            }
            let last = try await Self.start(url, folder)
            try await last.killingOnError { try await loads.check(last, folder, "at the end") }
            #expect(try await last.stop(with: SIGTERM) == .code(0))
            try await Self.expectDenseLog(engine, name)
            print("\(kills) kills, \(acknowledged) commits acknowledged, \(forwarded) of them forwarded")
            #expect(forwarded > 0)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A server that stood still past its lease makes nothing that was forwarded to it before`() async throws {
        let engine = try await Self.makeEngine()
        let name = try await engine.makeDatabase()
        let url = engine.url(name)
        try await withTemporaryFolder { folder in
            var loads = try Loads()
            let first = try await Self.start(url, folder)
            let second = try await Self.start(url, folder)
            try await first.killingOnError { try await loads.openWatchers(on: first) }
            @Sendable func holderAddress() async throws -> String {
                try await engine.query("SELECT convert_from(address, 'UTF8') FROM hearth.leases", in: name)
            }
            try await loads.run((first, second), CrashRandom(stream: 1)) { recorder in
                try await Self.waitForForwards(20, by: (first, second))
                // On a busy machine, the lease may have passed from one to the other.
                let address = try await holderAddress()
                let holder = try #require([first, second].first { "\($0.connection.server)" == address })
                holder.process.send(SIGSTOP)
                try await eventually { try await holderAddress() != address }
                try await Self.wait(for: 30, in: recorder)
                holder.process.send(SIGCONT)
                try await Self.wait(for: 60, in: recorder)
                for server in [first, second] { _ = try await server.process.end(with: SIGKILL) }
            }
            let last = try await Self.start(url, folder)
            try await last.killingOnError { try await loads.check(last, folder, "after the pause") }
            #expect(try await last.stop(with: SIGTERM) == .code(0))
            try await Self.expectDenseLog(engine, name)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Servers forward commits over TLS, with certificates of the authority of --server-ca`() async throws {
        let engine = try await Self.makeEngine()
        let url = engine.url(try await engine.makeDatabase())
        try await withTemporaryFolder { folder in
            let certificate = try TestCertificate()
            try certificate.write(to: folder)
            let (chain, key) = (folder.path + "/chain.pem", folder.path + "/key.pem")
            func start(_ name: String) async throws -> CrashServer {
                try await CrashServer(
                    engine: url,
                    folder: folder.appendingPathComponent(name),
                    arguments: [
                        "--tls-certificate", chain, "--tls-key", key, "--server-url", "https://127.0.0.1:0", "--server-ca", chain,
                    ] + Self.patience,
                    authorities: certificate.chain
                )
            }
            let first = try await start("first")
            try await first.killingOnError {
                let second = try await start("second")
                try await second.killingOnError {
                    try await withThrowingTaskGroup { group in
                        for (server, id) in [(first, "a"), (second, "b")] {
                            group.addTask {
                                let path = try DocumentPath("forwarded/\(id)")
                                for number in 0... {
                                    let write = PlannedWrite(path: path, fields: .sample(number: number))
                                    _ = try await server.commit([write])
                                }
                            }
                        }
                        group.addTask {
                            try await Self.waitForForwards(5, by: (first, second))
                        }
                        // The writers end only with an error.
                        try await group.next()
                        group.cancelAll()
                    }
                }
                #expect(try await second.stop(with: SIGTERM) == .code(0))
            }
            #expect(try await first.stop(with: SIGTERM) == .code(0))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Only servers with the secret of the engine can forward commits`() async throws {
        let engine = try await EngineServer.shared.value
        let url = engine.url(try await engine.makeDatabase())
        try await withTemporaryFolder { folder in
            let server = try await Self.start(url, folder)
            let other = try await CrashServer(engine: url, folder: folder.appendingPathComponent("other"))
            try await server.killingOnError {
                for (server, status) in [(server, "403"), (other, "404")] {
                    let address = "\(server.connection.server)/engine/commits"
                    for header in ["", "-H 'Hearth-Signature: AAAA'"] {
                        let result = try await shell("curl -s -o /dev/null -w '%{http_code}' \(header) \(address) --json '{}'")
                        #expect(result.output == [status])
                    }
                }
            }
            for server in [server, other] { #expect(try await server.stop(with: SIGTERM) == .code(0)) }
        }
    }
}

/// A server in a network namespace, whose link to the engine is cut.
extension EngineForwardingTests {
    @Test(.enabled(if: NetworkNamespace.isAvailable, NetworkNamespace.requirement), .timeLimit(.minutes(10)))
    func `A server that forwards commits and is cut from the engine loses no commit and makes none twice`() async throws {
        try await NetworkNamespace.with { namespace in
            let engine = try await Self.makeEngine(["listen_addresses=\(namespace.address)"])
            try await engine.allowConnections(from: "\(namespace.address)/30")
            let name = try await engine.makeDatabase()
            try await withTemporaryFolder { folder in
                let url = engine.url(name)
                let created = try await hearth("keys", "create", "--role", "admin", "--engine", url)
                let key = try #require(created.output.first)
                let cut = try await CrashServer(
                    engine: "postgresql://hearth@\(namespace.address)/\(name)",
                    folder: folder.appendingPathComponent("cut"),
                    arguments: Self.arguments(on: namespace.clientAddress),
                    key: key,
                    launcher: namespace.launcher
                )
                let other = try await CrashServer(
                    engine: url,
                    folder: folder.appendingPathComponent("other"),
                    arguments: Self.arguments(on: namespace.machineAddress),
                    key: key
                )
                var loads = try Loads()
                try await other.killingOnError { try await loads.openWatchers(on: other) }
                try await loads.run((cut, other), CrashRandom(stream: 1)) { recorder in
                    for _ in 0..<2 {
                        try await Self.waitForForwards(5, by: (cut, other))
                        try await namespace.setConnected(false)
                        // A transaction of the server that was cut may have the lock; the engine ends it.
                        try await Self.wait(for: 60, in: recorder)
                        try await namespace.setConnected(true)
                    }
                    // The server that was cut goes on.
                    let path = try DocumentPath("after/cut")
                    while true {
                        do throws(StatusError) {
                            try await recorder.commit(on: cut) { [PlannedWrite(path: path, fields: .sample(number: $0))] }
                            break
                        } catch {
                            try await Task.sleep(for: .milliseconds(100))
                        }
                    }
                    for server in [cut, other] { _ = try await server.process.end(with: SIGKILL) }
                }
                let last = try await CrashServer(engine: url, folder: folder.appendingPathComponent("last"), key: key)
                try await last.killingOnError { try await loads.check(last, folder, "after the cut") }
                #expect(try await last.stop(with: SIGTERM) == .code(0))
                try await Self.expectDenseLog(engine, name)
            }
        }
    }
}
