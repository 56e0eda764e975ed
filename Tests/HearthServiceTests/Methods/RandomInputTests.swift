import Foundation
import FuzzedInputs
import TestSupport
import Testing

/// Inputs at random, of every kind that is read: nothing makes the program crash or hang, or is taken for something else.
///
/// `HEARTH_RANDOM_INPUTS` sets how many are tried. `Tests/Fuzzing/run` tries more in a shorter time, and finds its way by what
/// inputs make the program do.
@Suite(.serialized, .timeLimit(.minutes(60))) struct RandomInputTests {
    private static let count = ProcessInfo.processInfo.environment["HEARTH_RANDOM_INPUTS"].flatMap { Int($0) } ?? 50_000
    private static let seed = SeededGenerator.currentSeed

    /// Each kind, with how many in a hundred of the inputs are of it: most of those that take little time.
    private static let shares: [(kind: FuzzedInput, percent: Int)] = [
        (.json, 20), (.file, 6), (.body, 2), (.query, 2), (.firestore, 3), (.path, 32), (.token, 35),
    ]

    @Test("Whatever is read is refused, or taken for what it is", arguments: shares)
    func inputs(kind: FuzzedInput, percent: Int) async throws {
        var mutator = InputMutator(seed: Self.seed)
        for _ in 0..<max(1, Self.count * percent / 100) {
            let input = mutator.next(kind)
            if let fault = await kind.fault(in: input) {
                let text = String(decoding: input, as: UTF8.self)
                Issue.record("HEARTH_TEST_SEED=\(Self.seed): \(fault)\n\(text)\n\(input)")
                return
            }
            // Other tests have the same threads.
            await Task.yield()
        }
    }

    @Test("What inputs begin with is right", arguments: FuzzedInput.allCases)
    func seeds(kind: FuzzedInput) async throws {
        #expect(!kind.seeds.isEmpty)
        for seed in kind.seeds { #expect(await kind.fault(in: seed) == nil) }
    }
}
