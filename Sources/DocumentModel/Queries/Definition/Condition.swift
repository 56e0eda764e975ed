/// A condition on a field's value: an operator and its operand.
///
/// A missing field matches no condition. Values are compared by ``Value/comparedInQueries(to:)``. Firestore's unary operators
/// are `.equal` and `.notEqual` with null and NaN.
package enum Condition: Hashable, Sendable {
    /// Equal to the value: 3 equals 3.0, arrays and maps compare as a whole, null and NaN equal themselves.
    case equal(Value)
    /// Not equal to the value, and not null.
    case notEqual(Value)
    /// Less than the value, and of the same type; NaN doesn't match.
    case less(Value)
    /// Less than or equal to the value, and of the same type; NaN doesn't match.
    case lessOrEqual(Value)
    /// Greater than the value, and of the same type.
    case greater(Value)
    /// Greater than or equal to the value, and of the same type.
    case greaterOrEqual(Value)
    /// Equal to one of the values; null and NaN among them match nothing.
    case `in`([Value])
    /// Not equal to any of the values, and not null; matches nothing if null is among them.
    case notIn([Value])
    /// An array with an element equal to the value; null and NaN match no element.
    case arrayContains(Value)
    /// An array with an element equal to one of the values; null and NaN match no element.
    case arrayContainsAny([Value])
    /// A geo point inside a circle. A Hearth extension.
    case near(GeoCircle)
    /// A geo point inside a box. A Hearth extension.
    case within(GeoBox)
}

extension Condition {
    /// The operators, with their names in requests.
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

    /// True if the condition implies an order by the field.
    var isInequality: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .notEqual, .notIn: true
        case .equal, .in, .arrayContains, .arrayContainsAny, .near, .within: false
        }
    }

    /// True if the condition is a negation. A query has at most one.
    var isNegation: Bool {
        switch self {
        case .notEqual, .notIn: true
        default: false
        }
    }

    /// The number of disjuncts that the condition counts as.
    var disjunctCount: Int {
        switch self {
        case .in(let values), .arrayContainsAny(let values): values.count
        default: 1
        }
    }
}
