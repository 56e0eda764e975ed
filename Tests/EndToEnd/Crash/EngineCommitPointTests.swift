import DocumentModel
import Foundation
import HearthTransport
import Synchronization
import TestSupport
import Testing

/// Servers of an engine that are killed at each point of a commit.
@Suite("Servers that are killed while an engine commits", EngineServer.condition, .tags(.slow, .crash), .timeLimit(.minutes(10)))
struct EngineCommitPointTests {
    @Test(arguments: EngineProxy.Fault.allCases)
    func `A server that is killed at a point of a commit loses none and makes none twice`(_ fault: EngineProxy.Fault) async throws
    {
        let engine = try await EngineServer.shared.value
        let name = try await engine.makeDatabase()
        let proxy = try EngineProxy(of: engine.socketFolder)
        let url = engine.url(name, socketFolder: proxy.socketFolder)
        try await withTemporaryFolder { folder in
            func start() async throws -> CrashServer {
                try await CrashServer(engine: url, folder: folder.appendingPathComponent(UUID().uuidString))
            }
            let load = try CommitLoad()
            var history = CommitHistory(groups: load.groups)
            for round in 1...3 as ClosedRange<UInt64> {
                let server = try await start()
                if round == 1 { try await server.killingOnError { try await load.openWatchers(on: server) } }
                let recorder = CommitRecorder(history)
                proxy.prepare([fault]) { server.process.send(SIGKILL) }
                let report = try await server.killingOnError {
                    try await load.run(on: server, recorder: recorder, random: CrashRandom(stream: round)) {
                        let exit = try await server.process.exit()
                        #expect(exit.status == .signal(SIGKILL))
                    }
                }
                await server.connection.shutdown()
                #expect(report.inconsistencies == [], "HEARTH_TEST_SEED=\(CrashRandom.seed)")
                history = recorder.history
                let next = try await start()
                try await next.killingOnError {
                    let (snapshot, violations) = try await history.check(next, data: folder, disk: false)
                    #expect(violations == [], "round \(round), HEARTH_TEST_SEED=\(CrashRandom.seed)")
                    let inconsistencies = try await load.watchers.check(on: next.connection, against: snapshot)
                    #expect(inconsistencies == [])
                    history.rebase(snapshot)
                }
                #expect(try await next.stop(with: SIGTERM) == .code(0))
            }
            #expect(proxy.faultCount.load(ordering: .relaxed) == 3)
        }
    }
}
