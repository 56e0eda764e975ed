import Foundation
import TestSupport
import Testing

/// Simulated power cuts at every point of a recorded run, with pending operations lost, torn or reordered.
@Suite("Power cuts", .tags(.crash, .slow), .serialized, .timeLimit(.minutes(10)))
struct PowerCutTests {
    @Test func `hearth serve loses no acknowledged commit`() async throws {
        try await PowerCut.withScratchFolder { scratch in
            let recording = try await Recording.server(.allWriteKinds(), in: scratch)
            try await check(recording, count: 1_200, in: scratch)
        }
    }

    @Test func `A store with small segments and frequent checkpoints loses no acknowledged commit`() async throws {
        try await PowerCut.withScratchFolder { scratch in
            let recording = try await Recording.store(.allWriteKinds(), in: scratch)
            try await check(recording, count: 1_800, in: scratch)
        }
    }

    /// Verifies that the checks detect errors.
    @Test(arguments: ["fdatasync data/journal/", "syncfs", "fsync data/.hearth-description.tmp"])
    func `A missing sync is detected`(label: String) async throws {
        try await PowerCut.withScratchFolder { scratch in
            let recording = try await Recording.store(.allWriteKinds(), in: scratch)
            let faulty = recording.withoutSyncs(labeled: label)
            #expect(faulty.events.count < recording.events.count)
            // A count of 0 selects only the states with all or none of the pending operations.
            let generator = SeededGenerator(seed: PowerCut.seed)
            let expected = try await PowerCut.check(recording, count: 0, generator: generator, in: scratch)
            let findings = try await PowerCut.check(faulty, count: 0, generator: generator, in: scratch)
            #expect(findings.violations.count > expected.violations.count)
        }
    }

    private func check(_ recording: Recording, count: Int, in scratch: URL) async throws {
        let findings = try await PowerCut.check(
            recording,
            count: PowerCut.stateCount(default: count),
            generator: SeededGenerator(seed: PowerCut.seed),
            in: scratch
        )
        print("Power cuts: \(findings)")
        let violationCount = findings.violations.count
        #expect(
            violationCount == 0,
            """
            HEARTH_TEST_SEED=\(PowerCut.seed); the simplest violations:
            \(findings.distinctViolations.prefix(5).map(\.description).joined(separator: "\n\n"))
            """
        )
    }
}
