import Foundation
import TestSupport

/// A reproducible random number generator.
struct CrashRandom: RandomNumberGenerator {
    /// The seed of this run, from `HEARTH_TEST_SEED` or random.
    static let seed = SeededGenerator.currentSeed

    private var generator: SeededGenerator

    /// Creates a generator with the seed of this run; each `stream` produces different numbers.
    init(stream: UInt64) {
        generator = SeededGenerator(seed: Self.seed ^ (stream &* 0xd6e8_feb8_6659_fd93))
    }

    mutating func next() -> UInt64 {
        generator.next()
    }

    mutating func chance(_ percent: Int) -> Bool {
        generator.chance(percent)
    }

    /// Returns the numeric value of an environment variable.
    static func environmentNumber(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
}
