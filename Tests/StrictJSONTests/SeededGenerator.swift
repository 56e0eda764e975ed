import Foundation

/// SplitMix64: random tests that can be repeated from the seed that they print.
struct SeededGenerator: RandomNumberGenerator {
    /// The seed of this run: HEARTH_TEST_SEED, or another one each time.
    static let runSeed =
        ProcessInfo.processInfo.environment["HEARTH_TEST_SEED"].flatMap(UInt64.init) ?? .random(in: .min ... .max)

    private var state: UInt64

    init(seed: UInt64 = runSeed) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }
}
