/// A single-field filter of a query, with its parameter path.
struct FieldFilter {
    var field: FieldPath
    var condition: Condition
    var path: ParameterPath

    /// The parameter path of the operator.
    var operatorPath: ParameterPath { path.member("op") }

    /// Validates the condition, and resolves document names to references.
    func resolved(in source: StructuredQuery.Source) throws(StatusError) -> FieldFilter {
        try path.member("field").locating { () throws(StatusError) in try field.validateInQuery() }
        var filter = self
        filter.condition = try field.isDocumentName ? conditionOnDocumentName(in: source) : validatedCondition()
        return filter
    }

    private func validatedCondition() throws(StatusError) -> Condition {
        switch condition {
        case .equal(let value), .notEqual(let value):
            try validate(value)
        case .less(let value), .lessOrEqual(let value), .greater(let value), .greaterOrEqual(let value):
            try validate(value)
            guard value != .null, !value.isNaN else {
                throw path.member("value").error(
                    "`\(condition.operator.rawValue)` cannot compare with null or NaN, which are unordered. "
                        + "Use `==` or `!=` with them.",
                    field: field
                )
            }
        case .in(let values), .notIn(let values):
            try validate(values) { value, _ throws(StatusError) in try value.validate(at: field) }
        case .arrayContains(let value):
            try path.member("value").locating { () throws(StatusError) in try value.validateAsElement(ofArrayAt: field) }
        case .arrayContainsAny(let values):
            try validate(values) { value, _ throws(StatusError) in try value.validateAsElement(ofArrayAt: field) }
        case .near, .within:
            break
        }
        return condition
    }

    private func validate(_ value: Value) throws(StatusError) {
        try path.member("value").locating { () throws(StatusError) in try value.validate(at: field) }
    }

    private func validate(
        _ values: [Value],
        each validate: (Value, ParameterPath) throws(StatusError) -> Void
    ) throws(StatusError) {
        let path = path.member("value")
        guard !values.isEmpty else {
            throw path.error(
                "`\(condition.operator.rawValue)` requires a non-empty array of values. Add at least one.",
                field: field
            )
        }
        for (index, value) in values.enumerated() {
            let path = path.element(index)
            try path.locating { () throws(StatusError) in try validate(value, path) }
        }
    }
}

extension FieldFilter {
    private func conditionOnDocumentName(in source: StructuredQuery.Source) throws(StatusError) -> Condition {
        let path = path.member("value")
        switch condition {
        case .equal(let value): return .equal(try source.reference(value, at: path))
        case .notEqual(let value): return .notEqual(try source.reference(value, at: path))
        case .less(let value): return .less(try source.reference(value, at: path))
        case .lessOrEqual(let value): return .lessOrEqual(try source.reference(value, at: path))
        case .greater(let value): return .greater(try source.reference(value, at: path))
        case .greaterOrEqual(let value): return .greaterOrEqual(try source.reference(value, at: path))
        case .in(let values): return .in(try references(values, in: source))
        case .notIn(let values): return .notIn(try references(values, in: source))
        case .arrayContains, .arrayContainsAny, .near, .within:
            throw operatorPath.error(
                "`\(condition.operator.rawValue)` cannot be used on __name__, the document's path. "
                    + "Use a comparison, `in` or `not-in`.",
                field: field
            )
        }
    }

    private func references(_ values: [Value], in source: StructuredQuery.Source) throws(StatusError) -> [Value] {
        var references: [Value] = []
        try validate(values) { value, path throws(StatusError) in references.append(try source.reference(value, at: path)) }
        return references
    }
}

extension StructuredQuery.Source {
    /// Resolves the operand of a comparison with the document name to a reference.
    func reference(_ value: Value, at path: ParameterPath) throws(StatusError) -> Value {
        switch value {
        case .reference:
            return value
        case .string(let name):
            return .reference(try path.locating { () throws(StatusError) in try document(named: name) })
        default:
            throw path.error(
                "Expected a document reference for __name__, or an ID or path as a string; found a value of a different type.",
                field: .documentName
            )
        }
    }
}
