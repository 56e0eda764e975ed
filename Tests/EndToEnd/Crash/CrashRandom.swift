import Foundation
import TestSupport

/// Random numbers that can be drawn again: SplitMix64.
struct CrashRandom: RandomNumberGenerator {
    /// The seed of this run: `HEARTH_TEST_SEED`, or another one each time.
    static let seed = SeededGenerator.currentSeed

    private var generator: SeededGenerator

    /// The numbers of this run, different ones for each `stream`.
    init(stream: UInt64) {
        generator = SeededGenerator(seed: Self.seed ^ (stream &* 0xd6e8_feb8_6659_fd93))
    }

    mutating func next() -> UInt64 {
        generator.next()
    }

    mutating func chance(_ percent: Int) -> Bool {
        generator.chance(percent)
    }

    /// The number that a variable of the environment says.
    static func environmentNumber(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
}
