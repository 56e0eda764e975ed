internal import TestSupport

/// A generator of random mutations of the seeds.
package struct InputMutator: Sendable {
    private var generator: SeededGenerator

    /// Creates a mutator with a random seed.
    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// Returns the next mutated input of a kind.
    package mutating func next(_ kind: FuzzedInput) -> [UInt8] {
        next(mutating: kind.seeds)
    }

    /// Returns the next mutation of one of the seeds.
    package mutating func next(mutating seeds: [[UInt8]]) -> [UInt8] {
        var input = seeds.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &generator) { mutate(&input, seeds: seeds) }
        return input
    }

    private mutating func mutate(_ input: inout [UInt8], seeds: [[UInt8]]) {
        let start = Int.random(in: 0...input.count, using: &generator)
        let end = min(input.count, start + Int.random(in: 0...8, using: &generator))
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: input.removeSubrange(start..<end)
        case 1: input.insert(contentsOf: input[start..<end], at: start)
        case 2: input.insert(UInt8.random(in: .min ... .max, using: &generator), at: start)
        case 3 where start < input.count: input[start] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 4:
            // Splice in the end of another seed.
            guard let other = seeds.randomElement(using: &generator) else { return }
            input.replaceSubrange(start..., with: other.suffix(input.count - start))
        default:
            guard let token = FuzzedInput.dictionary.randomElement(using: &generator) else { return }
            input.replaceSubrange(start..<end, with: token)
        }
    }
}
