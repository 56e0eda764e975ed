import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

extension CrashTests {
    /// `HEARTH_CRASH_ROUNDS` sets the number of rounds.
    @Suite("Server killed under load", .timeLimit(.minutes(120)))
    struct KillLoopTests {
        private static let rounds = CrashRandom.environmentNumber("HEARTH_CRASH_ROUNDS") ?? 50

        @Test func `Preserves acknowledged commits and applies others atomically`() async throws {
            print("Killing a server \(Self.rounds) times: HEARTH_TEST_SEED=\(CrashRandom.seed)")
            try await withTemporaryFolder { folder in
                let data = folder.appending(path: "data")
                let load = try CommitLoad()
                var history = CommitHistory(groups: load.groups)
                var totals = Totals()
                for round in 1...Self.rounds {
                    var random = CrashRandom(stream: round)
                    try await Self.killDuringStart(of: data, &random)
                    if random.chance(20) { try await Self.checkAfterShutdown(data) }
                    let server = try await CrashServer(data: data)
                    guard try await Self.check(server, data, &history, load.watchers, before: round) else { return }
                    // Built concurrently with the load, at least in the first rounds.
                    for collection in ["notes", "votes"] { try await server.defineIndexes(of: collection) }
                    let recorder = CommitRecorder(history)
                    let report = try await server.killingOnError { [random] in
                        try await load.run(on: server, recorder: recorder, random: random) {
                            try await Self.end(server.process, random)
                        }
                    }
                    await server.connection.shutdown()
                    history = recorder.history
                    totals.add(history, report)
                    #expect(report.inconsistencies == [], "round \(round), HEARTH_TEST_SEED=\(CrashRandom.seed)")
                }
                let server = try await CrashServer(data: data)
                guard try await Self.check(server, data, &history, load.watchers, before: Self.rounds + 1) else { return }
                #expect(try await server.stop(with: SIGTERM) == .code(0))
                #expect(try await FolderCheck.findings(in: data) == [], "HEARTH_TEST_SEED=\(CrashRandom.seed)")
                print("\(totals)")
                #expect(totals.acknowledged > Int(Self.rounds), "Too few commits for a meaningful test")
            }
        }

        /// Checks the server against the history; returns `false` if there are violations.
        private static func check(
            _ server: CrashServer,
            _ data: URL,
            _ history: inout CommitHistory,
            _ watchers: ResumingWatchers,
            before round: UInt64
        ) async throws -> Bool {
            let (snapshot, violations) = try await server.killingOnError { [history] in
                let (snapshot, violations) = try await history.check(server, data: data)
                let watchViolations = try await watchers.check(on: server.connection, against: snapshot)
                return (snapshot, violations + watchViolations + (try await FolderCheck.findings(inCopyOf: data)))
            }
            #expect(violations == [], "before round \(round), HEARTH_TEST_SEED=\(CrashRandom.seed)")
            guard violations.isEmpty else {
                try await server.stop(with: SIGKILL)
                return false
            }
            history.rebase(snapshot)
            return true
        }

        /// Lets a server recover the folder and shut down, so that the index can be checked, too.
        private static func checkAfterShutdown(_ data: URL) async throws {
            let server = try await CrashServer(data: data)
            #expect(try await server.stop(with: SIGTERM) == .code(0))
            #expect(try await FolderCheck.findings(in: data) == [], "HEARTH_TEST_SEED=\(CrashRandom.seed)")
        }

        /// In some rounds, kills a server during its start, possibly during recovery.
        private static func killDuringStart(of data: URL, _ random: inout CrashRandom) async throws {
            while random.chance(20) {
                let process = try CrashServer.launch(data: data)
                try await Task.sleep(for: .microseconds(Int.random(in: 0...200_000, using: &random)))
                #expect(try await process.end(with: SIGKILL) == .signal(SIGKILL))
            }
        }

        /// Kills the server after a random time; in some rounds during shutdown.
        private static func end(_ process: ServerProcess, _ random: CrashRandom) async throws {
            var random = random
            try await Task.sleep(for: .microseconds(Int.random(in: 1_000...800_000, using: &random)))
            if random.chance(15) {
                process.send(SIGTERM)
                try await Task.sleep(for: .microseconds(Int.random(in: 0...100_000, using: &random)))
            }
            _ = try await process.end(with: SIGKILL)
        }

        private struct Totals: CustomStringConvertible {
            var acknowledged = 0
            private var attempted = 0
            private var unknown = 0
            private var watched = 0

            mutating func add(_ history: CommitHistory, _ report: CommitLoad.Report) {
                acknowledged += history.acknowledgedCount
                attempted = history.attemptCount
                unknown += history.attempts.values.count { $0.outcome == .unknown }
                watched += report.watched
            }

            var description: String {
                "\(attempted) commits attempted, \(acknowledged) acknowledged, \(unknown) unknown, \(watched) changes watched"
            }
        }
    }
}
