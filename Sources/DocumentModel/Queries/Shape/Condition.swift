/// What the value of a field must fulfil: an operator and its operand.
///
/// No condition is fulfilled by a field that a document lacks. Values are compared as ``Value/comparedInQueries(to:)`` does.
/// Firestore's unary operators are `.equal` and `.notEqual` with null and NaN.
package enum Condition: Hashable, Sendable {
    /// The same value: 3 equals 3.0, arrays and maps compare whole, null and NaN equal themselves.
    case equal(Value)
    /// Any other value of any type, but not null.
    case notEqual(Value)
    /// A smaller value of the same type; NaN is no number here.
    case less(Value)
    /// A smaller or the same value of the same type; NaN is no number here.
    case lessOrEqual(Value)
    /// A greater value of the same type.
    case greater(Value)
    /// A greater or the same value of the same type.
    case greaterOrEqual(Value)
    /// Equal to one of these; null and NaN among them equal nothing.
    case `in`([Value])
    /// Neither null nor equal to any of these; nothing at all when null is among them.
    case notIn([Value])
    /// An array with an element that equals this; null and NaN equal no element.
    case arrayContains(Value)
    /// An array with an element that equals one of these; null and NaN equal no element.
    case arrayContainsAny([Value])
    /// A point within a circle. Hearth's own.
    case near(GeoCircle)
    /// A point within a box. Hearth's own.
    case within(GeoBox)
}

extension Condition {
    /// The operators, by the names that calls write.
    package enum Operator: String, Hashable, Sendable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case `in` = "in"
        case notIn = "not-in"
        case arrayContains = "array-contains"
        case arrayContainsAny = "array-contains-any"
        case near = "near"
        case within = "within"
    }

    /// The condition's operator.
    package var `operator`: Operator {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        case .in: .in
        case .notIn: .notIn
        case .arrayContains: .arrayContains
        case .arrayContainsAny: .arrayContainsAny
        case .near: .near
        case .within: .within
        }
    }

    /// Whether documents are sorted by the field although no order says so.
    var isInequality: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .notEqual, .notIn: true
        case .equal, .in, .arrayContains, .arrayContainsAny, .near, .within: false
        }
    }

    /// Whether it is one of those that say what a value is not, of which a query has at most one.
    var isNegation: Bool {
        switch self {
        case .notEqual, .notIn: true
        default: false
        }
    }

    /// How many alternatives the condition stands for when disjunctions are counted.
    var alternatives: Int {
        switch self {
        case .in(let values), .arrayContainsAny(let values): values.count
        default: 1
        }
    }
}
