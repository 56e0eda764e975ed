internal import DocumentModel

// The field is named by a text with dots between the names.
extension Filter {
    /// Documents whose field has a value; null and NaN equal themselves.
    public static func whereField(_ field: String, isEqualTo value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .equal(try operands.value(value)) }
    }

    /// Documents whose field has another value, and not null.
    public static func whereField(_ field: String, isNotEqualTo value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .notEqual(try operands.value(value)) }
    }

    /// Documents whose field has a lesser value of the same type.
    public static func whereField(_ field: String, isLessThan value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .less(try operands.value(value)) }
    }

    /// Documents whose field has a lesser value of the same type, or this one.
    public static func whereField(_ field: String, isLessThanOrEqualTo value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .lessOrEqual(try operands.value(value)) }
    }

    /// Documents whose field has a greater value of the same type.
    public static func whereField(_ field: String, isGreaterThan value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .greater(try operands.value(value)) }
    }

    /// Documents whose field has a greater value of the same type, or this one.
    public static func whereField(_ field: String, isGreaterOrEqualTo value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .greaterOrEqual(try operands.value(value)) }
    }

    /// Documents whose field is an array with such an element.
    public static func whereField(_ field: String, arrayContains value: Any) -> Filter {
        Filter(field) { operands throws(StatusError) in .arrayContains(try operands.value(value)) }
    }

    /// Documents whose field is an array with at least one of these elements.
    public static func whereField(_ field: String, arrayContainsAny values: [Any]) -> Filter {
        Filter(field) { operands throws(StatusError) in .arrayContainsAny(try operands.operands(values)) }
    }

    /// Documents whose field has one of these values.
    public static func whereField(_ field: String, in values: [Any]) -> Filter {
        Filter(field) { operands throws(StatusError) in .in(try operands.operands(values)) }
    }

    /// Documents whose field has none of these values, and not null.
    public static func whereField(_ field: String, notIn values: [Any]) -> Filter {
        Filter(field) { operands throws(StatusError) in .notIn(try operands.operands(values)) }
    }
}

// The field is named by a path.
extension Filter {
    /// Documents whose field has a value; null and NaN equal themselves.
    public static func whereField(_ path: FieldPath, isEqualTo value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .equal(try operands.value(value)) }
    }

    /// Documents whose field has another value, and not null.
    public static func whereField(_ path: FieldPath, isNotEqualTo value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .notEqual(try operands.value(value)) }
    }

    /// Documents whose field has a lesser value of the same type.
    public static func whereField(_ path: FieldPath, isLessThan value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .less(try operands.value(value)) }
    }

    /// Documents whose field has a lesser value of the same type, or this one.
    public static func whereField(_ path: FieldPath, isLessThanOrEqualTo value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .lessOrEqual(try operands.value(value)) }
    }

    /// Documents whose field has a greater value of the same type.
    public static func whereField(_ path: FieldPath, isGreaterThan value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .greater(try operands.value(value)) }
    }

    /// Documents whose field has a greater value of the same type, or this one.
    public static func whereField(_ path: FieldPath, isGreaterOrEqualTo value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .greaterOrEqual(try operands.value(value)) }
    }

    /// Documents whose field is an array with such an element.
    public static func whereField(_ path: FieldPath, arrayContains value: Any) -> Filter {
        Filter(path) { operands throws(StatusError) in .arrayContains(try operands.value(value)) }
    }

    /// Documents whose field is an array with at least one of these elements.
    public static func whereField(_ path: FieldPath, arrayContainsAny values: [Any]) -> Filter {
        Filter(path) { operands throws(StatusError) in .arrayContainsAny(try operands.operands(values)) }
    }

    /// Documents whose field has one of these values.
    public static func whereField(_ path: FieldPath, in values: [Any]) -> Filter {
        Filter(path) { operands throws(StatusError) in .in(try operands.operands(values)) }
    }

    /// Documents whose field has none of these values, and not null.
    public static func whereField(_ path: FieldPath, notIn values: [Any]) -> Filter {
        Filter(path) { operands throws(StatusError) in .notIn(try operands.operands(values)) }
    }
}
