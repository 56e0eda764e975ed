import Foundation
import TestSupport
import Testing

/// Power cuts at every moment of a recorded run, with whatever of the unsynced operations lost, torn or reordered.
@Suite("A power cut", .serialized, .timeLimit(.minutes(10)))
struct PowerCutTests {
    @Test func `loses no promised commit of hearth serve`() async throws {
        try await PowerCut.withScratchFolder { scratch in
            let recording = try await Recording.server(.everyKindOfWrite(), in: scratch)
            try await check(recording, count: 1_200, in: scratch)
        }
    }

    @Test func `loses no promised commit of a store whose journal segments and checkpoints turn over`() async throws {
        try await PowerCut.withScratchFolder { scratch in
            let recording = try await Recording.store(.everyKindOfWrite(), in: scratch)
            try await check(recording, count: 1_800, in: scratch)
        }
    }

    /// Otherwise the tests above would show nothing.
    @Test(arguments: ["fdatasync data/journal/", "syncfs", "fsync data/.hearth-description.tmp"])
    func `is noticed when the store leaves out a sync`(label: String) async throws {
        try await PowerCut.withScratchFolder { scratch in
            let recording = try await Recording.store(.everyKindOfWrite(), in: scratch)
            let careless = recording.withoutSyncs(labelled: label)
            #expect(careless.events.count < recording.events.count)
            // A count of 0 leaves the plainest states: all or nothing of what was not synced.
            let generator = SeededGenerator(seed: PowerCut.seed)
            let whole = try await PowerCut.check(recording, count: 0, generator: generator, in: scratch)
            let findings = try await PowerCut.check(careless, count: 0, generator: generator, in: scratch)
            #expect(findings.violations.count > whole.violations.count)
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
        let broken = findings.violations.count
        #expect(
            broken == 0,
            """
            HEARTH_TEST_SEED=\(PowerCut.seed); the simplest states that break a promise, one for each fault:
            \(findings.faults.prefix(5).map(\.description).joined(separator: "\n\n"))
            """
        )
    }
}
