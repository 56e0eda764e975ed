import Foundation
import TestSupport
import Testing

extension CrashTests {
    /// Kills the server at every call with `HEARTH_CRASH_ALL=1`, otherwise at a different sample of calls in each run.
    @Suite("Server killed at a file-modifying system call", .timeLimit(.minutes(60)))
    struct CrashPointTests {
        /// The sample size per scenario.
        private static let count = 8

        @Test(arguments: CrashScenario.all) func `Preserves acknowledged commits and applies others atomically`(
            scenario: CrashScenario
        ) async throws {
            try await withTemporaryFolder { folder in
                let state = try await scenario.prepare(in: folder)
                let log = folder.appending(path: "calls")
                let counted = try state.copied(to: folder.appending(path: "counted"))
                let outcome = try await scenario.run(counted, plan: FaultPlan(log: log))
                #expect(outcome.errors.isEmpty && outcome.failedStart == nil)
                let trace = try CallTrace(log: log)
                #expect(trace.calls.contains { "\($0.kind) \($0.path)".hasPrefix(scenario.purpose) })
                let points = trace.sample(count: Self.count).flatMap { call in
                    Fault.KillMoment.allCases.filter { $0 != .within || call.writes }.map { (call: call, moment: $0) }
                }
                print(
                    "Killing a server with \(scenario) at \(points.count) points of its \(trace.calls.count) calls: "
                        + "HEARTH_TEST_SEED=\(CrashRandom.seed)"
                )
                let found = try await points.concurrentMap(width: 2) { point in
                    let data = folder.appending(path: "\(point.call.number)-\(point.moment)")
                    let state = try state.copied(to: data)
                    let fault = Fault.kill(point.moment, call: point.call.number)
                    let killed = try await scenario.run(state, plan: FaultPlan(fault: fault))
                    let violations = try await killed.state.violationsAfterRestart()
                    try FileManager.default.removeItem(at: data)
                    return violations.map { "\(fault) (\(point.call)): \($0)" }
                }
                #expect(found.flatMap { $0 } == [], "\(scenario), HEARTH_TEST_SEED=\(CrashRandom.seed)")
            }
        }
    }
}
