import SecurityRules
import TestSupport
import Testing

/// Compares the values of random expressions with those that were computed while they were made. `HEARTH_TEST_SEED` sets the
/// seed.
@Suite("Random expressions")
struct RandomExpressionTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    @Test
    func `An expression has the value of a naive evaluation`() throws {
        var random = RandomExpressions(generator: SeededGenerator())
        for _ in 0..<1_500 {
            let (text, value) = random.boolean(depth: 4)
            let outcome = try outcome(of: text)
            #expect(outcome.value == value, "\(Self.seed): \(text) \(outcome.message)")
        }
    }
}

/// Random expressions with their values; `nil` stands for an error.
private struct RandomExpressions {
    var generator: SeededGenerator

    private mutating func choice(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    mutating func boolean(depth: Int) -> (text: String, value: Bool?) {
        guard depth > 0 else {
            return [("true", true), ("false", false), ("missing", nil), ("null", nil), ("1", nil)][choice(5)]
        }
        switch choice(8) {
        case 0, 1:
            let (left, right) = (boolean(depth: depth - 1), boolean(depth: depth - 1))
            let value: Bool? =
                left.value == false || right.value == false ? false : left.value == nil || right.value == nil ? nil : true
            return ("(\(left.text) && \(right.text))", value)
        case 2, 3:
            let (left, right) = (boolean(depth: depth - 1), boolean(depth: depth - 1))
            let value: Bool? =
                left.value == true || right.value == true ? true : left.value == nil || right.value == nil ? nil : false
            return ("(\(left.text) || \(right.text))", value)
        case 4:
            let operand = boolean(depth: depth - 1)
            return ("!\(operand.text)", operand.value.map { !$0 })
        case 5:
            let test = boolean(depth: depth - 1)
            let (then, otherwise) = (boolean(depth: depth - 1), boolean(depth: depth - 1))
            return ("(\(test.text) ? \(then.text) : \(otherwise.text))", test.value.flatMap { $0 ? then.value : otherwise.value })
        case 6:
            let (left, right) = (integer(depth: depth - 1), integer(depth: depth - 1))
            let relations: [(String, (Int64, Int64) -> Bool)] = [
                ("==", { $0 == $1 }), ("!=", { $0 != $1 }), ("<", { $0 < $1 }), ("<=", { $0 <= $1 }), (">", { $0 > $1 }),
                (">=", { $0 >= $1 }),
            ]
            let (name, relation) = relations[choice(relations.count)]
            return ("(\(left.text) \(name) \(right.text))", zip(left.value, right.value).map { relation($0, $1) })
        default:
            let (element, list) = (integer(depth: depth - 1), (0..<choice(4)).map { _ in integer(depth: depth - 1) })
            let values = list.compactMap(\.value)
            let text = list.map(\.text).joined(separator: ", ")
            return ("(\(element.text) in [\(text)])", values.count < list.count ? nil : element.value.map(values.contains))
        }
    }

    private mutating func integer(depth: Int) -> (text: String, value: Int64?) {
        guard depth > 0 else {
            let number = [0, 1, 2, -3, 7, 9_223_372_036_854_775_807][choice(6)] as Int64
            return ("\(number)", number)
        }
        switch choice(7) {
        case 0: return calculation("+", depth) { $0.addingReportingOverflow($1) }
        case 1: return calculation("-", depth) { $0.subtractingReportingOverflow($1) }
        case 2: return calculation("*", depth) { $0.multipliedReportingOverflow(by: $1) }
        case 3: return calculation("/", depth) { $0.dividedReportingOverflow(by: $1) }
        case 4:
            let items = (0...choice(3)).map { _ in integer(depth: depth - 1) }
            let index = choice(4)
            let isValid = items.allSatisfy { $0.value != nil } && index < items.count
            return ("[\(items.map(\.text).joined(separator: ", "))][\(index)]", isValid ? items[index].value : nil)
        case 5:
            let test = boolean(depth: depth - 1)
            let (then, otherwise) = (integer(depth: depth - 1), integer(depth: depth - 1))
            return ("(\(test.text) ? \(then.text) : \(otherwise.text))", test.value.flatMap { $0 ? then.value : otherwise.value })
        default:
            let (value, isThere) = (integer(depth: depth - 1), choice(2) == 0)
            return ("{'a': \(value.text)}.\(isThere ? "a" : "b")", isThere ? value.value : nil)
        }
    }

    private mutating func calculation(
        _ name: String,
        _ depth: Int,
        _ calculate: (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
    ) -> (text: String, value: Int64?) {
        let (left, right) = (integer(depth: depth - 1), integer(depth: depth - 1))
        let value = zip(left.value, right.value).flatMap { first, second -> Int64? in
            let result = calculate(first, second)
            return result.overflow ? nil : result.partialValue
        }
        return ("(\(left.text) \(name) \(right.text))", value)
    }

    private func zip(_ left: Int64?, _ right: Int64?) -> (Int64, Int64)? {
        if let left, let right { (left, right) } else { nil }
    }
}
