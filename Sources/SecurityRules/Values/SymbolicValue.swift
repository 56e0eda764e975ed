/// The constraint of a query on the value of a field, or on an unknown part of a path.
///
/// A statement about it is proved if one fact alone implies it for every value. Facts are not combined: `>= x` and `<= x` do not
/// prove `== x`, as in Firestore.
package struct SymbolicValue: Sendable {
    /// The type; `nil` if it is not known. A value of a known type is not null.
    let type: RuleType?
    let facts: [Fact]

    init(type: RuleType?, facts: [Fact] = []) {
        self.type = type
        self.facts = facts
    }

    /// A fact about a value, with constants whose comparison in queries and in rules agrees.
    enum Fact: Sendable {
        /// A number equal to this one, whether integer or float.
        case equalNumber(RuleValue)
        /// A value of an ordered type in a range; neither null nor NaN.
        case range(lower: Bound?, upper: Bound?)
        /// A value that equals none of these.
        case differs([RuleValue])
        /// A list with this element.
        case contains(RuleValue)
        /// Not null.
        case notNull
    }

    /// A bound of a range.
    struct Bound: Sendable {
        let value: RuleValue
        let isInclusive: Bool
    }
}

extension SymbolicValue {
    /// Returns whether the value is equal to a concrete one, or `nil` if that is not proved.
    func isEqual(to other: RuleValue) -> Bool? {
        if case .null = other {
            let isKnownNotNull = type != nil || facts.contains { if case .notNull = $0 { true } else { false } }
            return isKnownNotNull ? false : nil
        }
        if let type, type.isDisjoint(from: other.type) { return false }
        return compared(by: .equal, to: other)
    }

    /// Returns the result of `==` or an order operator with a concrete value, or `nil` if that is not proved.
    func compared(by binary: BinaryOperator, to other: RuleValue) -> Bool? {
        for fact in facts {
            if let result = fact.compared(by: binary, to: other) { return result }
        }
        return nil
    }

    /// Returns whether the value is proved to be a list with an element.
    func contains(_ element: RuleValue) -> Bool {
        facts.contains { fact in
            guard case .contains(let known) = fact, element.isConcrete else { return false }
            return known == element
        }
    }
}

extension SymbolicValue.Fact {
    fileprivate func compared(by binary: BinaryOperator, to other: RuleValue) -> Bool? {
        switch self {
        case .equalNumber(let number):
            // A NaN on the other side makes every relation false, whatever the number is.
            return RuleValue.areOrdered(number, other, by: binary.relation)
        case .range(let lower, let upper):
            return Self.compare(lower, upper, by: binary, to: other)
        case .differs(let values):
            return binary == .equal && values.contains(where: { $0.isEqual(to: other) }) ? false : nil
        case .contains, .notNull:
            return nil
        }
    }

    private static func compare(
        _ lower: SymbolicValue.Bound?,
        _ upper: SymbolicValue.Bound?,
        by binary: BinaryOperator,
        to other: RuleValue
    ) -> Bool? {
        func holds(_ bound: SymbolicValue.Bound?, _ relation: BinaryOperator) -> Bool {
            bound.map { RuleValue.areOrdered($0.value, other, by: relation.relation) == true } ?? false
        }
        let isGreaterOrEqual = holds(lower, .greaterOrEqual)
        let isGreater = lower?.isInclusive == false ? isGreaterOrEqual : holds(lower, .greater)
        let isLessOrEqual = holds(upper, .lessOrEqual)
        let isLess = upper?.isInclusive == false ? isLessOrEqual : holds(upper, .less)
        let (isProved, isRefuted): (Bool, Bool) =
            switch binary {
            case .greater: (isGreater, isLessOrEqual)
            case .greaterOrEqual: (isGreaterOrEqual, isLess)
            case .less: (isLess, isGreaterOrEqual)
            case .lessOrEqual: (isLessOrEqual, isGreater)
            case .equal: (false, isGreater || isLess)
            default: (false, false)
            }
        return isProved ? true : isRefuted ? false : nil
    }
}

extension RuleValue {
    /// Returns the result of `==` if one of the values is not concrete, or `nil` if it is not proved.
    func isEqualIfProved(to other: RuleValue) -> Bool? {
        switch (self, other) {
        case (.symbolic(let value), let other) where other.isConcrete: return value.isEqual(to: other)
        case (let other, .symbolic(let value)) where other.isConcrete: return value.isEqual(to: other)
        case (.symbolic, _), (_, .symbolic): return nil
        // A map or a list with unknown parts is neither null nor of another type.
        default: return type.isDisjoint(from: other.type) ? false : nil
        }
    }
}
