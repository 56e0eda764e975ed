import Foundation
import TestSupport

/// Checks many states that power cuts may leave.
enum PowerCut {
    /// What was found.
    struct Findings: Sendable, CustomStringConvertible {
        var points = 0
        var states = 0
        var reach = CutSearch.Reach()
        var seconds = 0.0
        /// The states that break a promise.
        var violations: [Violation] = []

        /// One violation for each fault, the simplest, so that it is easy to understand.
        var faults: [Violation] {
            let simplestFirst = violations.sorted { $0.state.fates.count < $1.state.fates.count }
            var seen: Set<String> = []
            return simplestFirst.filter { seen.insert($0.fault).inserted }
        }

        var description: String {
            func latest(_ count: Int?) -> String { count.map { "the latest \($0)" } ?? "all" }
            return "\(states) states at \(points) points in \(seconds.formatted(.number.precision(.fractionLength(1)))) s; "
                + "of the operations not synced, one alone: \(latest(reach.decisiveSingles)) where it matters most, "
                + "\(latest(reach.singles)) elsewhere; two: \(latest(reach.pairs))"
        }
    }

    /// A state that breaks a promise.
    struct Violation: Sendable, CustomStringConvertible {
        let state: CutState
        let point: CutPoint
        /// What is wrong with it.
        let fault: String

        var description: String { state.description(at: point) + "\n" + fault }
    }

    /// How many states are checked by default; HEARTH_POWERCUT_STATES says otherwise.
    static func stateCount(default standard: Int) -> Int {
        ProcessInfo.processInfo.environment["HEARTH_POWERCUT_STATES"].flatMap { Int($0) } ?? standard
    }

    /// Where states are laid out: in memory where possible, since each is synced several times.
    static func withScratchFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        let folder = (isThere ? memory : FileManager.default.temporaryDirectory)
            .appendingPathComponent("hearth-powercut-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    /// Checks up to `count` states of a recording.
    static func check(
        _ recording: Recording,
        count: Int,
        generator: SeededGenerator,
        in scratch: URL
    ) async throws -> Findings {
        let start = ContinuousClock.now
        let points = try CutPoint.points(of: recording)
        let search = CutSearch(points, count: count, generator: generator)
        let candidates = search.candidates
        let checker = StateChecker(recording.history)
        let workers = ProcessInfo.processInfo.activeProcessorCount
        var findings = await withTaskGroup(of: Findings.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    let folder = scratch.appendingPathComponent("state-\(worker)")
                    var findings = Findings()
                    for index in stride(from: worker, to: candidates.count, by: workers) {
                        let candidate = candidates[index]
                        let point = points[candidate.state.point]
                        let fault = await fault(of: candidate.state.tree(at: point), candidate.promised, checker, folder)
                        if let fault {
                            findings.violations.append(Violation(state: candidate.state, point: point, fault: fault))
                        }
                    }
                    return findings
                }
            }
            return await group.reduce(into: Findings()) { $0.violations += $1.violations }
        }
        findings.points = points.count
        findings.states = candidates.count
        findings.reach = search.reach
        findings.seconds = (ContinuousClock.now - start) / .seconds(1)
        return findings
    }

    private static func fault(of tree: FileTree, _ promised: Int, _ checker: StateChecker, _ folder: URL) async -> String? {
        do {
            let commits = try await checker.check(tree, in: folder)
            return commits < promised ? "Only \(commits) commits are there" : nil
        } catch {
            return "\(error)"
        }
    }
}
