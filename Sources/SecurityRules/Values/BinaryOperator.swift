/// An operator between two values that evaluates both.
enum BinaryOperator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case `in` = "in"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divide = "/"
    case remainder = "%"
}

extension BinaryOperator {
    /// The relation of `==` or an order operator between the sign of a difference and 0.
    var relation: (Int, Int) -> Bool {
        switch self {
        case .less: { $0 < $1 }
        case .lessOrEqual: { $0 <= $1 }
        case .greater: { $0 > $1 }
        case .greaterOrEqual: { $0 >= $1 }
        default: { $0 == $1 }
        }
    }

    /// The operator for exchanged operands.
    var reversed: BinaryOperator {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: self
        }
    }
}
