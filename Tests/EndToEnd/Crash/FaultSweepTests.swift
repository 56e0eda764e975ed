import DocumentModel
import Foundation
import TestSupport
import Testing

extension CrashTests {
    /// With `HEARTH_CRASH_ALL=1` at every call, else at some calls, others in each run.
    @Suite("A server of which a system call that changes files fails", .timeLimit(.minutes(60)))
    struct FaultSweepTests {
        /// How many calls of each life are visited where not all are.
        private static let count = 3

        @Test(arguments: CrashScenario.all, ["EIO", "ENOSPC"])
        func `loses nothing acknowledged, shows nothing half, and reads on`(life: CrashScenario, error: String) async throws {
            try await withTemporaryFolder { folder in
                let state = try await life.prepare(in: folder)
                let log = folder.appending(path: "calls")
                _ = try await life.run(state.copied(to: folder.appending(path: "counted")), plan: FaultPlan(log: log))
                let trace = try CallTrace(log: log)
                let points = trace.visited(count: Self.count).flatMap { call in
                    [Fault.fail("any", with: error, call: call.number), .failing("any", with: error, from: call.number)].map {
                        (call: call, fault: $0)
                    }
                }
                print("Failing \(points.count) of the calls of a server with \(life): HEARTH_TEST_SEED=\(CrashRandom.seed)")
                let found = try await points.concurrentMap(width: 2) { point in
                    let data = folder.appending(path: point.fault.description)
                    let outcome = try await life.run(state.copied(to: data), plan: FaultPlan(fault: point.fault))
                    let violations =
                        outcome.violations.map { "while running, \($0)" } + Self.faults(of: outcome, in: folder)
                        + (try await outcome.state.violationsAfterRestart())
                    try FileManager.default.removeItem(at: data)
                    return violations.map { "\(point.fault) (\(point.call)): \($0)" }
                }
                #expect(found.flatMap { $0 } == [], "\(life), HEARTH_TEST_SEED=\(CrashRandom.seed)")
            }
        }

        /// What is wrong with the way the server reported the fault.
        private static func faults(of outcome: CrashScenario.Outcome, in folder: URL) -> [String] {
            var faults: [String] = []
            for error in outcome.errors {
                if ![.unavailable, .resourceExhausted].contains(error.code) { faults.append("answered with \(error)") }
                if error.message.contains(folder.path) { faults.append("an answer names a path of the machine: \(error)") }
            }
            if let start = outcome.failedStart, start.status != .code(1) || !start.errors.contains("hearth: ") {
                faults.append("\(start)")
            }
            // A stop that could not bring everything to disk says so by its exit code.
            if let end = outcome.end, ![.code(0), .code(1), .signal(SIGKILL)].contains(end) {
                faults.append("ended with \(end)")
            }
            return faults
        }
    }
}
