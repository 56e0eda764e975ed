package import DocumentModel

extension QueryFilter {
    /// Returns the filter of a message.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if it is absent.
    package static func required(_ filter: QueryFilter?) throws(StatusError) -> QueryFilter {
        guard let filter else {
            throw StatusError(.invalidArgument, "Expected one of compositeFilter, fieldFilter and unaryFilter, found none.")
        }
        return filter
    }

    /// The operators of a composite filter.
    package enum CompositeOperator: Sendable {
        case and
        case or

        package static let messageValues = ProtoEnumeration<CompositeOperator>([(1, "AND", .and), (2, "OR", .or)])
    }

    /// Creates a composite filter from the parts of a message.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the operator is absent.
    package init(_ op: CompositeOperator?, _ filters: [QueryFilter]) throws(StatusError) {
        switch op {
        case .and?: self = .and(filters)
        case .or?: self = .or(filters)
        case nil: throw StatusError(.invalidArgument, "Expected op to be AND or OR.")
        }
    }

    /// Creates a field filter from the parts of a message.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if one is absent, or if the operator requires an array.
    package init(_ field: FieldPath?, _ op: FieldOperator?, _ operand: Value?) throws(StatusError) {
        guard let field else { throw .missing("field") }
        guard let op else { throw StatusError(.invalidArgument, "Expected op, such as EQUAL.") }
        guard let operand else { throw StatusError(.invalidArgument, "Expected a value to compare with.") }
        self = .field(
            field,
            try StatusError.locating(in: "value") { () throws(StatusError) in try op.condition(operand) }
        )
    }

    /// Creates a unary filter from the parts of a message.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if one is absent.
    package init(_ field: FieldPath?, unary condition: Condition?) throws(StatusError) {
        guard let condition else { throw StatusError(.invalidArgument, "Expected op, such as IS_NULL.") }
        guard let field else { throw .missing("field") }
        self = .field(field, condition)
    }

    /// The operators of a unary filter, as conditions.
    package static let unaryConditions = ProtoEnumeration<Condition>([
        (2, "IS_NAN", .equal(.double(.nan))), (3, "IS_NULL", .equal(.null)),
        (4, "IS_NOT_NAN", .notEqual(.double(.nan))), (5, "IS_NOT_NULL", .notEqual(.null)),
    ])
}

/// The operators of a field filter.
package enum FieldOperator: Sendable {
    case less
    case lessOrEqual
    case greater
    case greaterOrEqual
    case equal
    case notEqual
    case arrayContains
    case `in`
    case arrayContainsAny
    case notIn

    package static let messageValues = ProtoEnumeration<FieldOperator>([
        (1, "LESS_THAN", .less), (2, "LESS_THAN_OR_EQUAL", .lessOrEqual), (3, "GREATER_THAN", .greater),
        (4, "GREATER_THAN_OR_EQUAL", .greaterOrEqual), (5, "EQUAL", .equal), (6, "NOT_EQUAL", .notEqual),
        (7, "ARRAY_CONTAINS", .arrayContains), (8, "IN", .in), (9, "ARRAY_CONTAINS_ANY", .arrayContainsAny),
        (10, "NOT_IN", .notIn),
    ])

    fileprivate func condition(_ operand: Value) throws(StatusError) -> Condition {
        switch self {
        case .less: .less(operand)
        case .lessOrEqual: .lessOrEqual(operand)
        case .greater: .greater(operand)
        case .greaterOrEqual: .greaterOrEqual(operand)
        case .equal: .equal(operand)
        case .notEqual: .notEqual(operand)
        case .arrayContains: .arrayContains(operand)
        case .in: .in(try Self.elements(operand))
        case .arrayContainsAny: .arrayContainsAny(try Self.elements(operand))
        case .notIn: .notIn(try Self.elements(operand))
        }
    }

    private static func elements(_ operand: Value) throws(StatusError) -> [Value] {
        guard case .array(let elements) = operand else {
            throw StatusError(.invalidArgument, "The operator requires an arrayValue.")
        }
        return elements
    }
}
