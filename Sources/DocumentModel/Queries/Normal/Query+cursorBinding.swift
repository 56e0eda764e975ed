extension Query.Cursor {
    /// Checks the cursor against the orders that it belongs to, and makes references of the texts that name documents.
    ///
    /// - Parameter side: `start` or `end`.
    func bound(to orders: [Query.Order], in source: Query.Source, at side: String) throws(StatusError) -> Query.Cursor {
        let place = QueryPlace(side + (isInclusive ? "At" : side == "start" ? "After" : "Before")).member("values")
        guard !values.isEmpty else {
            throw place.error("Expected at least one value, found none. Give one for each order, from the first on.")
        }
        guard values.count <= orders.count else {
            throw place.error(
                "Expected at most \(orders.count) values, one for each order of the query, found \(values.count). "
                    + "Leave out those without an order, or add orders."
            )
        }
        var cursor = self
        for (index, (value, order)) in zip(values, orders).enumerated() {
            cursor.values[index] = try order.bound(value, in: source, at: place.element(index))
        }
        return cursor
    }
}

extension Query.Order {
    /// A cursor's value for this order.
    fileprivate func bound(_ value: Value, in source: Query.Source, at place: QueryPlace) throws(StatusError) -> Value {
        switch key {
        case .field(let field) where field.isDocumentName:
            return try source.reference(value, at: place)
        case .field(let field):
            try place.of { () throws(StatusError) in try value.validate(at: field) }
            return value
        case .distance:
            guard value.isNumber, !value.isNaN else {
                throw place.error("Expected a number of metres, since this order is one of distance; found another value.")
            }
            return value
        }
    }
}
