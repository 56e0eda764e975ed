import DocumentModel
import Foundation
import HearthTransport
import TestSupport
import Testing

/// Servers of an engine that are replaced one after the other, as by an operator who installs a newer release.
@Suite("Rolling upgrade of the servers of an engine", EngineServer.condition, .tags(.slow, .crash), .timeLimit(.minutes(10)))
struct EngineUpgradeTests {
    /// A server under load, and those that take its place.
    private struct Place {
        let load: CommitLoad
        let folder: URL
        let engine: String

        /// Runs servers one after the other, each until others have made further commits, and stops each as systemd does.
        ///
        /// - Parameter counts: For each server, the number of commits that are acknowledged by all before it is stopped.
        func run(_ counts: [Int], _ recorder: CommitRecorder, _ random: CrashRandom) async throws -> [String] {
            var random = random
            var inconsistencies: [String] = []
            for count in counts {
                let server = try await CrashServer(
                    engine: engine,
                    folder: folder.appendingPathComponent(UUID().uuidString),
                    arguments: ["--server-url", "http://127.0.0.1:0", "--queue-ms", "0"]
                )
                try await server.killingOnError {
                    let report = try await load.run(on: server, recorder: recorder, random: CrashRandom(stream: random.next())) {
                        try await eventually { recorder.history.acknowledgedCount >= count }
                        #expect(try await server.process.end(with: SIGTERM) == .code(0))
                    }
                    inconsistencies += report.inconsistencies
                }
                await server.connection.shutdown()
            }
            return inconsistencies
        }
    }

    @Test
    func `Servers that are replaced under load, while the tables become those of a newer release, lose no commit`() async throws {
        let engine = try await EngineServer()
        let name = try await engine.makeDatabase()
        let url = engine.url(name)
        try await withTemporaryFolder { folder in
            let loads = [try CommitLoad(), try CommitLoad()]
            let first = try await CrashServer(engine: url, folder: folder.appendingPathComponent("first"))
            try await first.killingOnError { for load in loads { try await load.openWatchers(on: first) } }
            #expect(try await first.stop(with: SIGTERM) == .code(0))
            let recorder = CommitRecorder(CommitHistory(groups: loads[0].groups))
            try await withThrowingTaskGroup(of: [String].self) { group in
                for (load, counts) in zip(loads, [[60, 180, 300], [120, 240, 300]]) {
                    let place = Place(load: load, folder: folder, engine: url)
                    let random = CrashRandom(stream: UInt64(counts[0]))
                    group.addTask { try await place.run(counts, recorder, random) }
                }
                group.addTask {
                    try await eventually { recorder.history.acknowledgedCount >= 90 }
                    // As a newer release leaves it, whose tables this one can use.
                    try await engine.execute("UPDATE hearth.format SET version = version + 1 WHERE id = 1", in: name)
                    return []
                }
                for try await inconsistencies in group {
                    #expect(inconsistencies == [], "HEARTH_TEST_SEED=\(CrashRandom.seed)")
                }
            }
            let last = try await CrashServer(engine: url, folder: folder.appendingPathComponent("last"))
            try await last.killingOnError {
                let (snapshot, violations) = try await recorder.history.check(last, data: folder, disk: false)
                #expect(violations == [], "HEARTH_TEST_SEED=\(CrashRandom.seed)")
                for load in loads {
                    let inconsistencies = try await load.watchers.check(on: last.connection, against: snapshot)
                    #expect(inconsistencies == [])
                }
            }
            #expect(try await last.stop(with: SIGTERM) == .code(0))
        }
    }
}
