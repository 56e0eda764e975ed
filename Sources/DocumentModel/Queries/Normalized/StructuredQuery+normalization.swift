internal import UTF8Text

extension StructuredQuery {
    /// Validates the offset and limit.
    func validateCounts() throws(StatusError) {
        try ParameterPath("offset").validateCount(offset)
        switch limit {
        case .first(let count):
            try ParameterPath("limit").validateCount(count)
        case .last(let count):
            let path = ParameterPath("limitToLast")
            try path.validateCount(count)
            guard !orders.isEmpty else {
                throw path.error(
                    "limitToLast() queries require specifying at least one orderBy() clause. "
                        + "Add a sort order, or use limit for the first documents."
                )
            }
        case nil:
            break
        }
    }

    /// Returns the fields to return, sorted and validated, or `nil` for all.
    func validatedProjection() throws(StatusError) -> [FieldPath]? {
        for (index, field) in projection.enumerated() {
            try ParameterPath("select").element(index).locating { () throws(StatusError) in try field.validateInQuery() }
        }
        return projection.isEmpty ? nil : projection.filter { !$0.isDocumentName }.sorted()
    }
}

extension ParameterPath {
    fileprivate func validateCount(_ count: Int) throws(StatusError) {
        guard count >= 0 else { throw error("Expected a number of documents of 0 or more, found \(count).") }
    }
}

extension StructuredQuery.Cursor {
    /// Validates the cursor against the orders, and resolves document names to references.
    ///
    /// - Parameter side: `start` or `end`.
    func bound(
        to orders: [StructuredQuery.Order],
        in source: StructuredQuery.Source,
        at side: String
    ) throws(StatusError) -> StructuredQuery.Cursor {
        let path = ParameterPath(side + (isInclusive ? "At" : side == "start" ? "After" : "Before")).member("values")
        guard !values.isEmpty else {
            throw path.error("Expected at least one value, found none. Specify values for the first orders.")
        }
        guard values.count <= orders.count else {
            throw path.error(
                "Expected at most \(orders.count.counted("value")), one for each order of the query, found \(values.count). "
                    + "Remove values, or add sort orders."
            )
        }
        var cursor = self
        for (index, (value, order)) in zip(values, orders).enumerated() {
            cursor.values[index] = try order.bound(value, in: source, at: path.element(index))
        }
        return cursor
    }
}

extension StructuredQuery.Order {
    /// Validates and resolves a cursor's value for this order.
    fileprivate func bound(_ value: Value, in source: StructuredQuery.Source, at path: ParameterPath) throws(StatusError) -> Value
    {
        switch key {
        case .field(let field) where field.isDocumentName:
            return try source.reference(value, at: path)
        case .field(let field):
            try path.locating { () throws(StatusError) in try value.validate(at: field) }
            return value
        case .distance:
            guard value.isNumber, !value.isNaN else {
                throw path.error(
                    "Expected a distance in meters for the order by distance, found NaN or a value of a different type."
                )
            }
            return value
        }
    }
}

extension [StructuredQuery.Order] {
    /// Returns the orders with the implied ones appended: the fields with an inequality, then the document name.
    ///
    /// - Parameter inequalityFields: The fields, sorted.
    /// - Throws: ``StatusCode/invalidArgument`` if a field is invalid, repeated, or missing before the document name.
    func completed(with inequalityFields: [FieldPath]) throws(StatusError) -> [StructuredQuery.Order] {
        let path = ParameterPath("orderBy")
        var seen = Set<StructuredQuery.Order.Key>()
        for (index, order) in enumerated() {
            try path.element(index).member("field").locating { () throws(StatusError) in try order.validateField() }
            guard seen.insert(order.key).inserted else {
                throw path.element(index).error(
                    "The order contains \(order.key.field) twice. Remove one of them.",
                    field: order.key.field
                )
            }
        }
        let nameIndex = firstIndex(where: \.isByName)
        if let nameIndex, let field = inequalityFields.first(where: { !self[..<nameIndex].contains(.field($0)) }) {
            throw path.element(nameIndex).error(
                "An inequality on \(field) requires an order by that field before the order by __name__. "
                    + "Insert one, or remove the order by __name__.",
                field: field
            )
        }
        var orders = self
        for field in inequalityFields where !contains(.field(field)) {
            orders.append(StructuredQuery.Order(.field(field), lastDirection))
        }
        if nameIndex == nil { orders.append(.name(lastDirection)) }
        return orders
    }

    /// Inserts orders by the given fields, if missing, before the final order by document name.
    mutating func insert(fields: [FieldPath]) {
        guard let name = popLast() else { return }
        for field in fields where !contains(.field(field)) { append(StructuredQuery.Order(.field(field), name.direction)) }
        append(name)
    }

    private var lastDirection: StructuredQuery.Order.Direction {
        last?.direction ?? .ascending
    }
}

extension Sequence<StructuredQuery.Order> {
    fileprivate func contains(_ key: StructuredQuery.Order.Key) -> Bool {
        contains { $0.key == key }
    }
}

extension StructuredQuery.Order {
    fileprivate func validateField() throws(StatusError) {
        switch key {
        case .field(let field): try field.validateInQuery()
        case .distance(let field, _): try field.validate()
        }
    }
}
