import Foundation

/// Random numbers that can be drawn again: SplitMix64.
struct CrashRandom: RandomNumberGenerator {
    /// The seed of this run: `HEARTH_TEST_SEED`, or another one each time.
    static let seed = environmentNumber("HEARTH_TEST_SEED") ?? .random(in: .min ... .max)

    private var state: UInt64

    /// The numbers of this run, different ones for each `stream`.
    init(stream: UInt64) {
        state = Self.seed ^ (stream &* 0xd6e8_feb8_6659_fd93)
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

    /// The number that a variable of the environment says.
    static func environmentNumber(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
}
