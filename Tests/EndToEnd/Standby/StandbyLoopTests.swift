import DocumentModel
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing

extension CrashTests {
    /// `HEARTH_STANDBY_ROUNDS` sets the number of rounds.
    @Suite("Standby killed, cut off and promoted under load", .timeLimit(.minutes(120)))
    struct StandbyLoopTests {
        private static let rounds = CrashRandom.environmentNumber("HEARTH_STANDBY_ROUNDS") ?? 4

        @Test func `A standby has each commit once and in order, whatever happens to it, to its primary and to their connection`()
            async throws
        {
            print("Disturbing a standby \(Self.rounds) times: HEARTH_TEST_SEED=\(CrashRandom.seed)")
            try await withServers { folder, servers in
                var random = CrashRandom(stream: 77)
                let load = CounterLoad()
                let options = ["--checkpoint-mebibytes", "1"]
                var primary = try await servers.start(data: folder.appending(path: "a"), arguments: options)
                let port = "\(primary.port)"
                let proxy = try CuttingProxy(to: primary.port)
                defer { proxy.stop() }
                let following = options + ["--follow", "http://127.0.0.1:\(proxy.port)"]
                var standby = try await servers.start(data: folder.appending(path: "b"), arguments: following)
                for round in 1...Self.rounds {
                    let token = try await primary.pollToken(of: "counters")
                    let running = load.start(on: primary)
                    for _ in 0..<4 {
                        try await Task.sleep(for: .milliseconds(Int.random(in: 20...250, using: &random)))
                        switch Int.random(in: 0..<4, using: &random) {
                        case 0: proxy.cut(after: Int.random(in: 0..<20_000, using: &random))
                        case 1:
                            proxy.setRefusing(true)
                            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<300, using: &random)))
                            proxy.setRefusing(false)
                        case 2:
                            _ = try await standby.stop(with: SIGKILL)
                            standby = try await servers.start(data: standby.folder, arguments: following)
                        default: proxy.cut(after: nil)
                        }
                    }
                    if round.isMultiple(of: 2) {
                        _ = try await primary.stop(with: SIGKILL)
                        await running.stop()
                        primary = try await servers.start(data: primary.folder, port: port, arguments: options)
                    } else {
                        await running.stop()
                    }
                    proxy.cut(after: nil)
                    try await standby.waitForCommits(of: primary)
                    #expect(
                        try await standby.exported() == primary.exported(),
                        "round \(round), HEARTH_TEST_SEED=\(CrashRandom.seed)"
                    )
                    let changes = try await primary.changes(in: "counters", since: token)
                    #expect(
                        try await standby.changes(in: "counters", since: token) == changes && !changes.isEmpty,
                        "round \(round), HEARTH_TEST_SEED=\(CrashRandom.seed)"
                    )
                    #expect(try await standby.metrics()["hearth_standby_failed"] == 0)
                }

                // Promoted while the primary goes on.
                let running = load.start(on: primary)
                try await Task.sleep(for: .milliseconds(Int.random(in: 100...500, using: &random)))
                let promotion = try await standby.run(["promote", "--force"])
                #expect(promotion.status == .code(0), "\(promotion)")
                let branch = try await standby.information()
                await running.stop()
                #expect(branch.epoch != (try await primary.information()).epoch)
                let violations = try await load.violations(on: standby, asOf: branch.commitTime ?? .minimum)
                #expect(violations == [], "HEARTH_TEST_SEED=\(CrashRandom.seed)")
                #expect(load.acknowledgedCount > 20 * Int(Self.rounds), "Too few commits for a meaningful test")

                // The former primary comes back with more than the new one has, which goes on as well.
                #expect(try await primary.stop() == .code(0))
                let further = load.start(on: standby, restarting: true)
                let former = try await servers.start(
                    data: primary.folder,
                    arguments: options + ["--follow", standby.address]
                )
                try await eventually { (try? await former.information())?.epoch == branch.epoch }
                await further.stop()
                try await former.waitForCommits(of: standby)
                #expect(try await former.exported() == standby.exported(), "HEARTH_TEST_SEED=\(CrashRandom.seed)")
                #expect(try await former.stop() == .code(0))
                #expect(try await standby.stop() == .code(0))
                for data in [primary.folder, standby.folder] {
                    let check = try await hearth("check", "--data", data.path)
                    #expect(check.status == .code(0), "\(check)")
                }
            }
        }
    }
}

/// Writers, each of which counts up in a document of its own, one commit after the other.
final class CounterLoad: Sendable {
    /// The commits of a writer.
    private struct Writer {
        /// The acknowledged numbers with their commit times, in order.
        var acknowledged: [(number: Int64, time: Timestamp)] = []
        /// The last number that was sent.
        var last: Int64 = 0
    }

    private let writers = Mutex([Writer](repeating: Writer(), count: 6))

    /// Writers that run.
    struct Running: Sendable {
        fileprivate let tasks: [Task<Void, Never>]

        /// Stops the writers after the commits that they have sent.
        func stop() async {
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
        }
    }

    var acknowledgedCount: Int { writers.withLock { $0.reduce(0) { $0 + $1.acknowledged.count } } }

    /// Starts the writers.
    ///
    /// - Parameter restarting: True to begin after a change of history, in which acknowledged commits may be gone.
    func start(on server: EndToEndServer, restarting: Bool = false) -> Running {
        if restarting {
            writers.withLock { writers in
                for index in writers.indices { writers[index].acknowledged = [] }
            }
        }
        let count = writers.withLock(\.count)
        return Running(
            tasks: (0..<count).map { writer in
                Task { await self.run(writer, on: server) }
            }
        )
    }

    private static func path(_ writer: Int) -> String { "counters/w\(writer)" }

    private func run(_ writer: Int, on server: EndToEndServer) async {
        while !Task.isCancelled {
            let number = writers.withLock { writers in
                writers[writer].last += 1
                return writers[writer].last
            }
            // A commit that fails has an unknown outcome: its number is not used again.
            guard let time = try? await server.write(Self.path(writer), number) else {
                if !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
                continue
            }
            writers.withLock { $0[writer].acknowledged.append((number, time)) }
        }
    }

    /// Compares a server with the commits up to a time: it has each acknowledged one, or a later one that was sent.
    func violations(on server: EndToEndServer, asOf time: Timestamp) async throws -> [String] {
        var found: [String] = []
        for (index, writer) in writers.withLock(\.self).enumerated() {
            let value = try await server.value(of: Self.path(index)) ?? 0
            let least = writer.acknowledged.last { $0.time <= time }?.number ?? 0
            let next = writer.acknowledged.first { $0.time > time }?.number ?? writer.last + 1
            if value < least || value >= next {
                found.append("writer \(index) has \(value), expected \(least) or more, and less than \(next), at \(time)")
            }
            let times = writer.acknowledged.map(\.time)
            if zip(times, times.dropFirst()).contains(where: { $0 >= $1 }) { found.append("the commit times do not grow") }
        }
        return found
    }
}
