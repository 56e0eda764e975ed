internal import Foundation

/// A reproducible random number generator: SplitMix64 with a seed.
///
/// Tests use the run's ``currentSeed``, which `HEARTH_TEST_SEED` sets, and print it in every failure.
package struct SeededGenerator: RandomNumberGenerator {
    /// The seed of this run.
    package static let currentSeed =
        ProcessInfo.processInfo.environment["HEARTH_TEST_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)

    /// The seed of the sequence.
    package let seed: UInt64
    private var state: UInt64

    /// Creates a generator at the start of a seed's sequence.
    package init(seed: UInt64 = currentSeed) {
        self.seed = seed
        state = seed
    }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns `true` with a probability of `percent` percent.
    package mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }
}
