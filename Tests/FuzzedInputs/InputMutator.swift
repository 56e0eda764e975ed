internal import TestSupport

/// Changes inputs at random.
package struct InputMutator: Sendable {
    private var generator: SeededGenerator

    /// Makes the changes that follow from a seed.
    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// The next input of a kind, made of its seeds.
    package mutating func next(_ kind: FuzzedInput) -> [UInt8] {
        let seeds = kind.seeds
        var input = seeds.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &generator) { change(&input, otherwise: seeds) }
        return input
    }

    private mutating func change(_ input: inout [UInt8], otherwise seeds: [[UInt8]]) {
        let start = Int.random(in: 0...input.count, using: &generator)
        let end = min(input.count, start + Int.random(in: 0...8, using: &generator))
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: input.removeSubrange(start..<end)
        case 1: input.insert(contentsOf: input[start..<end], at: start)
        case 2: input.insert(UInt8.random(in: .min ... .max, using: &generator), at: start)
        case 3 where start < input.count: input[start] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 4:
            // The end of another one.
            guard let other = seeds.randomElement(using: &generator) else { return }
            input.replaceSubrange(start..., with: other.suffix(input.count - start))
        default:
            guard let piece = FuzzedInput.pieces.randomElement(using: &generator) else { return }
            input.replaceSubrange(start..<end, with: piece)
        }
    }
}
