import DocumentModel
import TestSupport
import Testing

@Suite("Order of random values")
struct ValueOrderPropertyTests {
    private let values: [Value] = {
        var random = RandomValues(generator: SeededGenerator())
        return (0..<220).map { _ in random.value() }
    }()
    private let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    @Test
    func `The order agrees with a reference implementation and is antisymmetric`() {
        let keys = values.map { OrderKey($0).bytes }
        for (left, leftKey) in zip(values, keys) {
            for (right, rightKey) in zip(values, keys) {
                let result = left.compared(to: right)
                let expected: Comparison =
                    leftKey == rightKey ? .equal : leftKey.lexicographicallyPrecedes(rightKey) ? .less : .greater
                // Conditions instead of expectations, which are slow for tens of thousands of comparisons.
                guard result == expected, left.isEqual(to: right) == (expected == .equal) else {
                    Issue.record("\(left) to \(right): expected \(expected), found \(result); \(seed)")
                    return
                }
                guard left != right || result == .equal, left != right || left.hashValue == right.hashValue else {
                    Issue.record("\(left) == \(right), but they compare as \(result) or hash differently; \(seed)")
                    return
                }
            }
        }
    }

    @Test
    func `The order is transitive`() {
        var generator = SeededGenerator()
        for _ in 0..<20_000 {
            let index = (0..<3).map { _ in Int.random(in: values.indices, using: &generator) }
            let (first, second, third) = (values[index[0]], values[index[1]], values[index[2]])
            guard first.compared(to: second) != .greater, second.compared(to: third) != .greater else { continue }
            guard first.compared(to: third) != .greater else {
                Issue.record("\(first) <= \(second) <= \(third) <= \(first); \(seed)")
                return
            }
        }
    }
}
