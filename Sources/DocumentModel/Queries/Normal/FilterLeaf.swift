/// A condition of a query's filter, with the place where it stands.
struct FilterLeaf {
    var field: FieldPath
    var condition: Condition
    var place: QueryPlace

    /// Where the operator stands.
    var operatorPlace: QueryPlace { place.member("op") }

    /// Checks the condition by itself, and makes references of the texts that name documents.
    func resolved(in source: Query.Source) throws(StatusError) -> FilterLeaf {
        try place.member("field").of { () throws(StatusError) in try field.validateInQuery() }
        var leaf = self
        leaf.condition = try field.isDocumentName ? conditionOnName(in: source) : checkedCondition()
        return leaf
    }

    private func checkedCondition() throws(StatusError) -> Condition {
        switch condition {
        case .equal(let value), .notEqual(let value):
            try validate(value)
        case .less(let value), .lessOrEqual(let value), .greater(let value), .greaterOrEqual(let value):
            try validate(value)
            guard value != .null, !value.isNaN else {
                throw place.member("value").error(
                    "\(condition.operator.rawValue) can't compare with null or NaN, which have no order among values. "
                        + "Use == or != with them.",
                    field: field
                )
            }
        case .in(let values), .notIn(let values):
            try validate(values) { value, _ throws(StatusError) in try value.validate(at: field) }
        case .arrayContains(let value):
            try place.member("value").of { () throws(StatusError) in try value.validateAsElement(ofArrayAt: field) }
        case .arrayContainsAny(let values):
            try validate(values) { value, _ throws(StatusError) in try value.validateAsElement(ofArrayAt: field) }
        case .near, .within:
            break
        }
        return condition
    }

    private func validate(_ value: Value) throws(StatusError) {
        try place.member("value").of { () throws(StatusError) in try value.validate(at: field) }
    }

    private func validate(
        _ values: [Value],
        each validate: (Value, QueryPlace) throws(StatusError) -> Void
    ) throws(StatusError) {
        let place = place.member("value")
        guard !values.isEmpty else {
            throw place.error(
                "\(condition.operator.rawValue) needs a non-empty array of values. Put at least one into it.",
                field: field
            )
        }
        for (index, value) in values.enumerated() {
            let place = place.element(index)
            try place.of { () throws(StatusError) in try validate(value, place) }
        }
    }
}

// Conditions on the document's name.
extension FilterLeaf {
    private func conditionOnName(in source: Query.Source) throws(StatusError) -> Condition {
        let place = place.member("value")
        switch condition {
        case .equal(let value): return .equal(try source.reference(value, at: place))
        case .notEqual(let value): return .notEqual(try source.reference(value, at: place))
        case .less(let value): return .less(try source.reference(value, at: place))
        case .lessOrEqual(let value): return .lessOrEqual(try source.reference(value, at: place))
        case .greater(let value): return .greater(try source.reference(value, at: place))
        case .greaterOrEqual(let value): return .greaterOrEqual(try source.reference(value, at: place))
        case .in(let values): return .in(try references(values, in: source))
        case .notIn(let values): return .notIn(try references(values, in: source))
        case .arrayContains, .arrayContainsAny, .near, .within:
            throw operatorPlace.error(
                "\(condition.operator.rawValue) can't be used on __name__, which is a document's path. "
                    + "Use a comparison, in or not-in.",
                field: field
            )
        }
    }

    private func references(_ values: [Value], in source: Query.Source) throws(StatusError) -> [Value] {
        var references: [Value] = []
        try validate(values) { value, place throws(StatusError) in references.append(try source.reference(value, at: place)) }
        return references
    }
}

extension Query.Source {
    /// The reference that a value stands for where a document's name is compared.
    func reference(_ value: Value, at place: QueryPlace) throws(StatusError) -> Value {
        switch value {
        case .reference:
            return value
        case .string(let name):
            return .reference(try place.of { () throws(StatusError) in try document(named: name) })
        default:
            throw place.error(
                "Expected a reference to a document for __name__, or its id or path as a string; found another type.",
                field: .documentName
            )
        }
    }
}
