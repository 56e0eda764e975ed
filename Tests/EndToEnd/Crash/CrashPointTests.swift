import Foundation
import TestSupport
import Testing

extension CrashTests {
    /// With `HEARTH_CRASH_ALL=1` at every call, else at some calls, others in each run.
    @Suite("A server that is killed at a system call that changes files", .timeLimit(.minutes(60)))
    struct CrashPointTests {
        /// How many calls of each life are visited where not all are.
        private static let count = 8

        @Test(arguments: CrashScenario.all) func `keeps every acknowledged commit whole, and of the others all or nothing`(
            life: CrashScenario
        ) async throws {
            try await withTemporaryFolder { folder in
                let state = try await life.prepare(in: folder)
                let log = folder.appending(path: "calls")
                let counted = try state.copied(to: folder.appending(path: "counted"))
                let outcome = try await life.run(counted, plan: FaultPlan(log: log))
                #expect(outcome.errors.isEmpty && outcome.failedStart == nil)
                let trace = try CallTrace(log: log)
                #expect(trace.calls.contains { "\($0.kind) \($0.path)".hasPrefix(life.purpose) })
                let points = trace.visited(count: Self.count).flatMap { call in
                    Fault.Moment.allCases.filter { $0 != .within || call.writes }.map { (call: call, moment: $0) }
                }
                print(
                    "Killing a server with \(life) at \(points.count) points of its \(trace.calls.count) calls: "
                        + "HEARTH_TEST_SEED=\(CrashRandom.seed)"
                )
                let found = try await points.concurrentMap(width: 2) { point in
                    let data = folder.appending(path: "\(point.call.number)-\(point.moment)")
                    let state = try state.copied(to: data)
                    let fault = Fault.kill(point.moment, call: point.call.number)
                    let killed = try await life.run(state, plan: FaultPlan(fault: fault))
                    let violations = try await killed.state.violationsAfterRestart()
                    try FileManager.default.removeItem(at: data)
                    return violations.map { "\(fault) (\(point.call)): \($0)" }
                }
                #expect(found.flatMap { $0 } == [], "\(life), HEARTH_TEST_SEED=\(CrashRandom.seed)")
            }
        }
    }
}
