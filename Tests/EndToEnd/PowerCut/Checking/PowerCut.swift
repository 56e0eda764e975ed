import Foundation
import TestSupport

/// Checks of the states after power cuts.
enum PowerCut {
    /// The results of a check.
    struct Findings: Sendable, CustomStringConvertible {
        var points = 0
        var states = 0
        var coverage = CutStateSearch.Coverage()
        var seconds = 0.0
        /// The states with violations.
        var violations: [Violation] = []

        /// The simplest violation for each distinct message.
        var distinctViolations: [Violation] {
            let simplestFirst = violations.sorted { $0.state.outcomes.count < $1.state.outcomes.count }
            var seen: Set<String> = []
            return simplestFirst.filter { seen.insert($0.message).inserted }
        }

        var description: String {
            func latest(_ count: Int?) -> String { count.map { "latest \($0)" } ?? "all" }
            return "\(states) states at \(points) points in \(seconds.formatted(.number.precision(.fractionLength(1)))) s; "
                + "single pending operations: \(latest(coverage.decisiveSingles)) at decisive points, "
                + "\(latest(coverage.singles)) at others; pairs: \(latest(coverage.pairs))"
        }
    }

    /// A state that violates a guarantee.
    struct Violation: Sendable, CustomStringConvertible {
        let state: CutState
        let point: CutPoint
        /// The description of the violation.
        let message: String

        var description: String { state.description(at: point) + "\n" + message }
    }

    /// The number of states to check, which HEARTH_POWERCUT_STATES overrides.
    static func stateCount(default standard: Int) -> Int {
        ProcessInfo.processInfo.environment["HEARTH_POWERCUT_STATES"].flatMap { Int($0) } ?? standard
    }

    /// Calls `body` with a temporary folder, in memory if possible, since each state is synced several times.
    static func withScratchFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isAvailable = FileManager.default.isWritableFile(atPath: memory.path)
        let folder = (isAvailable ? memory : FileManager.default.temporaryDirectory)
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
        let search = CutStateSearch(points, count: count, generator: generator)
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
                        let message = await violation(
                            of: candidate.state.tree(at: point),
                            candidate.acknowledged,
                            checker,
                            folder
                        )
                        if let message {
                            findings.violations.append(Violation(state: candidate.state, point: point, message: message))
                        }
                    }
                    return findings
                }
            }
            return await group.reduce(into: Findings()) { $0.violations += $1.violations }
        }
        findings.points = points.count
        findings.states = candidates.count
        findings.coverage = search.coverage
        findings.seconds = (ContinuousClock.now - start) / .seconds(1)
        return findings
    }

    private static func violation(of tree: FileTree, _ acknowledged: Int, _ checker: StateChecker, _ folder: URL) async -> String?
    {
        do {
            let commits = try await checker.check(tree, in: folder)
            return commits < acknowledged ? "Only \(commits) commits survived" : nil
        } catch {
            return "\(error)"
        }
    }
}

extension PowerCut {
    /// The seed of this run.
    static let seed = SeededGenerator.currentSeed
}
