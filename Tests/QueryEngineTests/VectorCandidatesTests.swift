import TestSupport
import Testing

@testable import QueryEngine

@Suite("The candidates of a vector search")
struct VectorCandidatesTests {
    private func name(_ number: Int) -> [UInt8] { Array("n\(1_000_000 + number)".utf8) }

    @Test
    func `The nearest are kept in bounded memory, whatever the order in which they are found`() {
        var generator = SeededGenerator()
        for order in [Array(0..<30_000), (0..<30_000).reversed(), (0..<30_000).shuffled(using: &generator)] {
            var candidates = VectorCandidates(limit: 20, isOrderedByName: true)
            for number in order {
                let rank = Double(number / 3)
                if rank > candidates.maximumRank {
                    candidates.skip()
                } else {
                    candidates.add(name(number), rank...rank + (number.isMultiple(of: 2) ? 0 : 0.5))
                }
                #expect(candidates.candidates.count < 3_000 && !candidates.isFull)
            }
            #expect(candidates.hasDropped)
            let names = candidates.removeAll().map(\.name)
            #expect(Set(names).isSuperset(of: (0..<20).map(name)))
        }
    }

    @Test
    func `Documents at the same distance are kept in the order of their names, if their distances are known`() {
        var candidates = VectorCandidates(limit: 5, isOrderedByName: true)
        for number in (0..<20_000).reversed() { candidates.add(name(number), 1...1) }
        #expect(!candidates.isFull)
        #expect(candidates.removeAll().prefix(5).map(\.name) == (0..<5).map(name))
    }

    @Test(
        arguments: [true, false]
    )
    func `Documents that cannot be told apart fill the candidates, so that they are read`(isRounded: Bool) {
        var candidates = VectorCandidates(limit: 5, isOrderedByName: isRounded)
        var (count, readCount) = (0, 0)
        while readCount < 10_000 {
            candidates.add(name(count), isRounded ? 1...2 : 1...1)
            count += 1
            #expect(candidates.candidates.count <= 2_053)
            if candidates.isFull { readCount += candidates.removeAll().count }
        }
        #expect(!candidates.hasDropped)
        // The distances of those that were read exclude the others.
        candidates.readBound = VectorCandidates.Position(rank: 0.5, name: nil)
        for number in 0..<10 { candidates.add(name(number), 1...2) }
        #expect(candidates.candidates.isEmpty && candidates.hasDropped)
        #expect(candidates.readBound.isAtOrBefore(candidates.bound))
    }

    @Test
    func `Long names fill the candidates too`() {
        var candidates = VectorCandidates(limit: 1_000, isOrderedByName: false)
        let name = [UInt8](repeating: 1, count: 6_000)
        var count = 0
        while !candidates.isFull {
            candidates.add(name, -.infinity ... .infinity)
            count += 1
        }
        #expect(count < 800)
    }
}
