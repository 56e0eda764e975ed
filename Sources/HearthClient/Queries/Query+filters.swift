internal import DocumentModel

extension Query {
    /// Documents that fulfil a filter as well.
    public func whereFilter(_ filter: Filter) -> Query {
        changed { query throws(StatusError) in
            try firestore.check(filter.origins)
            guard let filter = try filter.definition.get() else { return }
            query.filter =
                switch query.filter {
                case nil: filter
                case .and(let filters)?: .and(filters + [filter])
                case let other?: .and([other, filter])
                }
        }
    }
}

// The field is named by a text with dots between the names.
extension Query {
    /// Documents whose field has a value; null and NaN equal themselves.
    public func whereField(_ field: String, isEqualTo value: Any) -> Query {
        whereFilter(.whereField(field, isEqualTo: value))
    }

    /// Documents whose field has another value, and not null.
    public func whereField(_ field: String, isNotEqualTo value: Any) -> Query {
        whereFilter(.whereField(field, isNotEqualTo: value))
    }

    /// Documents whose field has a lesser value of the same type.
    public func whereField(_ field: String, isLessThan value: Any) -> Query {
        whereFilter(.whereField(field, isLessThan: value))
    }

    /// Documents whose field has a lesser value of the same type, or this one.
    public func whereField(_ field: String, isLessThanOrEqualTo value: Any) -> Query {
        whereFilter(.whereField(field, isLessThanOrEqualTo: value))
    }

    /// Documents whose field has a greater value of the same type.
    public func whereField(_ field: String, isGreaterThan value: Any) -> Query {
        whereFilter(.whereField(field, isGreaterThan: value))
    }

    /// Documents whose field has a greater value of the same type, or this one.
    public func whereField(_ field: String, isGreaterThanOrEqualTo value: Any) -> Query {
        whereFilter(.whereField(field, isGreaterOrEqualTo: value))
    }

    /// Documents whose field is an array with such an element.
    public func whereField(_ field: String, arrayContains value: Any) -> Query {
        whereFilter(.whereField(field, arrayContains: value))
    }

    /// Documents whose field is an array with at least one of these elements.
    public func whereField(_ field: String, arrayContainsAny values: [Any]) -> Query {
        whereFilter(.whereField(field, arrayContainsAny: values))
    }

    /// Documents whose field has one of these values.
    public func whereField(_ field: String, in values: [Any]) -> Query {
        whereFilter(.whereField(field, in: values))
    }

    /// Documents whose field has none of these values, and not null.
    public func whereField(_ field: String, notIn values: [Any]) -> Query {
        whereFilter(.whereField(field, notIn: values))
    }
}

// The field is named by a path.
extension Query {
    /// Documents whose field has a value; null and NaN equal themselves.
    public func whereField(_ path: FieldPath, isEqualTo value: Any) -> Query {
        whereFilter(.whereField(path, isEqualTo: value))
    }

    /// Documents whose field has another value, and not null.
    public func whereField(_ path: FieldPath, isNotEqualTo value: Any) -> Query {
        whereFilter(.whereField(path, isNotEqualTo: value))
    }

    /// Documents whose field has a lesser value of the same type.
    public func whereField(_ path: FieldPath, isLessThan value: Any) -> Query {
        whereFilter(.whereField(path, isLessThan: value))
    }

    /// Documents whose field has a lesser value of the same type, or this one.
    public func whereField(_ path: FieldPath, isLessThanOrEqualTo value: Any) -> Query {
        whereFilter(.whereField(path, isLessThanOrEqualTo: value))
    }

    /// Documents whose field has a greater value of the same type.
    public func whereField(_ path: FieldPath, isGreaterThan value: Any) -> Query {
        whereFilter(.whereField(path, isGreaterThan: value))
    }

    /// Documents whose field has a greater value of the same type, or this one.
    public func whereField(_ path: FieldPath, isGreaterThanOrEqualTo value: Any) -> Query {
        whereFilter(.whereField(path, isGreaterOrEqualTo: value))
    }

    /// Documents whose field is an array with such an element.
    public func whereField(_ path: FieldPath, arrayContains value: Any) -> Query {
        whereFilter(.whereField(path, arrayContains: value))
    }

    /// Documents whose field is an array with at least one of these elements.
    public func whereField(_ path: FieldPath, arrayContainsAny values: [Any]) -> Query {
        whereFilter(.whereField(path, arrayContainsAny: values))
    }

    /// Documents whose field has one of these values.
    public func whereField(_ path: FieldPath, in values: [Any]) -> Query {
        whereFilter(.whereField(path, in: values))
    }

    /// Documents whose field has none of these values, and not null.
    public func whereField(_ path: FieldPath, notIn values: [Any]) -> Query {
        whereFilter(.whereField(path, notIn: values))
    }
}
