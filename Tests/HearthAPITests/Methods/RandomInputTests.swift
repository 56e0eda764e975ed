import Foundation
import FuzzedInputs
import TestSupport
import Testing

/// Random inputs for all parsers. No input may crash or hang the program or be misread.
///
/// `HEARTH_RANDOM_INPUTS` sets the number of inputs. `Tests/Fuzzing/run` tries more per second, guided by coverage.
@Suite("Random inputs", .serialized, .timeLimit(.minutes(60))) struct RandomInputTests {
    private static let count = ProcessInfo.processInfo.environment["HEARTH_RANDOM_INPUTS"].flatMap { Int($0) } ?? 50_000
    private static let seed = SeededGenerator.currentSeed

    /// The percentage of inputs of each kind; fast parsers get the most.
    private static let shares: [(kind: FuzzedInput, percent: Int)] = [
        (.json, 20), (.file, 6), (.body, 2), (.query, 2), (.firestore, 3), (.webChannel, 2), (.path, 31), (.token, 34),
    ]

    @Test(arguments: shares)
    func `Random inputs are rejected or parsed correctly`(kind: FuzzedInput, percent: Int) async throws {
        var mutator = InputMutator(seed: Self.seed)
        for _ in 0..<max(1, Self.count * percent / 100) {
            let input = mutator.next(kind)
            if let problem = await kind.check(input) {
                let text = String(decoding: input, as: UTF8.self)
                Issue.record("HEARTH_TEST_SEED=\(Self.seed): \(problem)\n\(text)\n\(input)")
                return
            }
            // Other tests share the threads.
            await Task.yield()
        }
    }

    @Test(arguments: FuzzedInput.allCases)
    func `Seed inputs are parsed correctly`(kind: FuzzedInput) async throws {
        #expect(!kind.seeds.isEmpty)
        for seed in kind.seeds { #expect(await kind.check(seed) == nil) }
    }
}
