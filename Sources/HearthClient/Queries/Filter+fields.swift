internal import DocumentModel

// With the field given by a dotted string.
extension Filter {
    /// Returns a filter that is true if the value of a field equals a value. Null and NaN equal themselves.
    public static func whereField(_ field: String, isEqualTo value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .equal(try operands.value(value)) }
    }

    /// Returns a filter that is true if a field exists, is not null and doesn't equal a value.
    public static func whereField(_ field: String, isNotEqualTo value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .notEqual(try operands.value(value)) }
    }

    /// Returns a filter that is true if the value of a field is less than a value of the same type.
    public static func whereField(_ field: String, isLessThan value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .less(try operands.value(value)) }
    }

    /// Returns a filter that is true if the value of a field is less than or equal to a value of the same type.
    public static func whereField(_ field: String, isLessThanOrEqualTo value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .lessOrEqual(try operands.value(value)) }
    }

    /// Returns a filter that is true if the value of a field is greater than a value of the same type.
    public static func whereField(_ field: String, isGreaterThan value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .greater(try operands.value(value)) }
    }

    /// Returns a filter that is true if the value of a field is greater than or equal to a value of the same type.
    public static func whereField(_ field: String, isGreaterOrEqualTo value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .greaterOrEqual(try operands.value(value)) }
    }

    /// Returns a filter that is true if a field is an array that contains a value.
    public static func whereField(_ field: String, arrayContains value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .arrayContains(try operands.value(value)) }
    }

    /// Returns a filter that is true if a field is an array that contains at least one of the values.
    public static func whereField(_ field: String, arrayContainsAny values: [Any]) -> Filter {
        Filter(field) { operands throws(StatusError) in .arrayContainsAny(try operands.operands(values)) }
    }

    /// Returns a filter that is true if the value of a field equals one of the values.
    public static func whereField(_ field: String, in values: [Any]) -> Filter {
        Filter(field) { operands throws(StatusError) in .in(try operands.operands(values)) }
    }

    /// Returns a filter that is true if a field exists, is not null and doesn't equal any of the values.
    public static func whereField(_ field: String, notIn values: [Any]) -> Filter {
        Filter(field) { operands throws(StatusError) in .notIn(try operands.operands(values)) }
    }
}

// With the field given by a field path.
extension Filter {
    /// Returns a filter that is true if the value of a field equals a value. Null and NaN equal themselves.
    public static func whereField(_ path: FieldPath, isEqualTo value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .equal(try operands.value(value)) }
    }

    /// Returns a filter that is true if a field exists, is not null and doesn't equal a value.
    public static func whereField(_ path: FieldPath, isNotEqualTo value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .notEqual(try operands.value(value)) }
    }

    /// Returns a filter that is true if the value of a field is less than a value of the same type.
    public static func whereField(_ path: FieldPath, isLessThan value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .less(try operands.value(value)) }
    }

    /// Returns a filter that is true if the value of a field is less than or equal to a value of the same type.
    public static func whereField(_ path: FieldPath, isLessThanOrEqualTo value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .lessOrEqual(try operands.value(value)) }
    }

    /// Returns a filter that is true if the value of a field is greater than a value of the same type.
    public static func whereField(_ path: FieldPath, isGreaterThan value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .greater(try operands.value(value)) }
    }

    /// Returns a filter that is true if the value of a field is greater than or equal to a value of the same type.
    public static func whereField(_ path: FieldPath, isGreaterOrEqualTo value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .greaterOrEqual(try operands.value(value)) }
    }

    /// Returns a filter that is true if a field is an array that contains a value.
    public static func whereField(_ path: FieldPath, arrayContains value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .arrayContains(try operands.value(value)) }
    }

    /// Returns a filter that is true if a field is an array that contains at least one of the values.
    public static func whereField(_ path: FieldPath, arrayContainsAny values: [Any]) -> Filter {
        Filter(path) { operands throws(StatusError) in .arrayContainsAny(try operands.operands(values)) }
    }

    /// Returns a filter that is true if the value of a field equals one of the values.
    public static func whereField(_ path: FieldPath, in values: [Any]) -> Filter {
        Filter(path) { operands throws(StatusError) in .in(try operands.operands(values)) }
    }

    /// Returns a filter that is true if a field exists, is not null and doesn't equal any of the values.
    public static func whereField(_ path: FieldPath, notIn values: [Any]) -> Filter {
        Filter(path) { operands throws(StatusError) in .notIn(try operands.operands(values)) }
    }
}
