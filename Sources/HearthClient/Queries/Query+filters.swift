internal import DocumentModel

extension Query {
    /// Adds a filter, combined with the existing ones using AND.
    public func whereFilter(_ filter: Filter) -> Query {
        changed { query throws(StatusError) in
            try firestore.checkReferences(to: filter.databases)
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

// With the field given by a dotted string.
extension Query {
    /// Adds a filter that is true if the value of a field equals a value. Null and NaN equal themselves.
    public func whereField(_ field: String, isEqualTo value: Any) -> Query {
        whereFilter(.whereField(field, isEqualTo: value))
    }

    /// Adds a filter that is true if a field exists, is not null and doesn't equal a value.
    public func whereField(_ field: String, isNotEqualTo value: Any) -> Query {
        whereFilter(.whereField(field, isNotEqualTo: value))
    }

    /// Adds a filter that is true if the value of a field is less than a value of the same type.
    public func whereField(_ field: String, isLessThan value: Any) -> Query {
        whereFilter(.whereField(field, isLessThan: value))
    }

    /// Adds a filter that is true if the value of a field is less than or equal to a value of the same type.
    public func whereField(_ field: String, isLessThanOrEqualTo value: Any) -> Query {
        whereFilter(.whereField(field, isLessThanOrEqualTo: value))
    }

    /// Adds a filter that is true if the value of a field is greater than a value of the same type.
    public func whereField(_ field: String, isGreaterThan value: Any) -> Query {
        whereFilter(.whereField(field, isGreaterThan: value))
    }

    /// Adds a filter that is true if the value of a field is greater than or equal to a value of the same type.
    public func whereField(_ field: String, isGreaterThanOrEqualTo value: Any) -> Query {
        whereFilter(.whereField(field, isGreaterOrEqualTo: value))
    }

    /// Adds a filter that is true if a field is an array that contains a value.
    public func whereField(_ field: String, arrayContains value: Any) -> Query {
        whereFilter(.whereField(field, arrayContains: value))
    }

    /// Adds a filter that is true if a field is an array that contains at least one of the values.
    public func whereField(_ field: String, arrayContainsAny values: [Any]) -> Query {
        whereFilter(.whereField(field, arrayContainsAny: values))
    }

    /// Adds a filter that is true if the value of a field equals one of the values.
    public func whereField(_ field: String, in values: [Any]) -> Query {
        whereFilter(.whereField(field, in: values))
    }

    /// Adds a filter that is true if a field exists, is not null and doesn't equal any of the values.
    public func whereField(_ field: String, notIn values: [Any]) -> Query {
        whereFilter(.whereField(field, notIn: values))
    }
}

// With the field given by a field path.
extension Query {
    /// Adds a filter that is true if the value of a field equals a value. Null and NaN equal themselves.
    public func whereField(_ path: FieldPath, isEqualTo value: Any) -> Query {
        whereFilter(.whereField(path, isEqualTo: value))
    }

    /// Adds a filter that is true if a field exists, is not null and doesn't equal a value.
    public func whereField(_ path: FieldPath, isNotEqualTo value: Any) -> Query {
        whereFilter(.whereField(path, isNotEqualTo: value))
    }

    /// Adds a filter that is true if the value of a field is less than a value of the same type.
    public func whereField(_ path: FieldPath, isLessThan value: Any) -> Query {
        whereFilter(.whereField(path, isLessThan: value))
    }

    /// Adds a filter that is true if the value of a field is less than or equal to a value of the same type.
    public func whereField(_ path: FieldPath, isLessThanOrEqualTo value: Any) -> Query {
        whereFilter(.whereField(path, isLessThanOrEqualTo: value))
    }

    /// Adds a filter that is true if the value of a field is greater than a value of the same type.
    public func whereField(_ path: FieldPath, isGreaterThan value: Any) -> Query {
        whereFilter(.whereField(path, isGreaterThan: value))
    }

    /// Adds a filter that is true if the value of a field is greater than or equal to a value of the same type.
    public func whereField(_ path: FieldPath, isGreaterThanOrEqualTo value: Any) -> Query {
        whereFilter(.whereField(path, isGreaterOrEqualTo: value))
    }

    /// Adds a filter that is true if a field is an array that contains a value.
    public func whereField(_ path: FieldPath, arrayContains value: Any) -> Query {
        whereFilter(.whereField(path, arrayContains: value))
    }

    /// Adds a filter that is true if a field is an array that contains at least one of the values.
    public func whereField(_ path: FieldPath, arrayContainsAny values: [Any]) -> Query {
        whereFilter(.whereField(path, arrayContainsAny: values))
    }

    /// Adds a filter that is true if the value of a field equals one of the values.
    public func whereField(_ path: FieldPath, in values: [Any]) -> Query {
        whereFilter(.whereField(path, in: values))
    }

    /// Adds a filter that is true if a field exists, is not null and doesn't equal any of the values.
    public func whereField(_ path: FieldPath, notIn values: [Any]) -> Query {
        whereFilter(.whereField(path, notIn: values))
    }
}
