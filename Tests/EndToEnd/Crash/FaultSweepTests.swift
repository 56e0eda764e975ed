import DocumentModel
import Foundation
import TestSupport
import Testing

extension CrashTests {
    /// Fails every call with `HEARTH_CRASH_ALL=1`, otherwise a different sample of calls in each run.
    @Suite("Server with failing file-modifying system calls", .timeLimit(.minutes(60)))
    struct FaultSweepTests {
        /// The sample size per scenario.
        private static let count = 3

        @Test(arguments: CrashScenario.all, ["EIO", "ENOSPC"])
        func `Preserves acknowledged commits, shows no partial commits, and keeps serving reads`(
            scenario: CrashScenario,
            error: String
        ) async throws {
            try await withTemporaryFolder { folder in
                let state = try await scenario.prepare(in: folder)
                let log = folder.appending(path: "calls")
                _ = try await scenario.run(state.copied(to: folder.appending(path: "counted")), plan: FaultPlan(log: log))
                let trace = try CallTrace(log: log)
                let points = trace.sample(count: Self.count).flatMap { call in
                    [Fault.fail("any", with: error, call: call.number), .failing("any", with: error, from: call.number)].map {
                        (call: call, fault: $0)
                    }
                }
                print("Failing \(points.count) of the calls of a server with \(scenario): HEARTH_TEST_SEED=\(CrashRandom.seed)")
                let found = try await points.concurrentMap(width: 2) { point in
                    let data = folder.appending(path: point.fault.description)
                    let outcome = try await scenario.run(state.copied(to: data), plan: FaultPlan(fault: point.fault))
                    let violations =
                        outcome.violations.map { "while running, \($0)" } + Self.reportingErrors(of: outcome, in: folder)
                        + (try await outcome.state.violationsAfterRestart())
                    try FileManager.default.removeItem(at: data)
                    return violations.map { "\(point.fault) (\(point.call)): \($0)" }
                }
                #expect(found.flatMap { $0 } == [], "\(scenario), HEARTH_TEST_SEED=\(CrashRandom.seed)")
            }
        }

        /// Returns errors in the way the server reported the fault.
        private static func reportingErrors(of outcome: CrashScenario.Outcome, in folder: URL) -> [String] {
            var errors: [String] = []
            for error in outcome.errors {
                if ![.unavailable, .resourceExhausted].contains(error.code) { errors.append("unexpected error \(error)") }
                if error.message.contains(folder.path) { errors.append("the error exposes a local path: \(error)") }
            }
            if let start = outcome.failedStart, start.status != .code(1) || !start.errors.contains("hearth: ") {
                errors.append("\(start)")
            }
            // A shutdown that could not sync all data exits with status 1.
            if let end = outcome.end, ![.code(0), .code(1), .signal(SIGKILL)].contains(end) {
                errors.append("unexpected exit status \(end)")
            }
            return errors
        }
    }
}
