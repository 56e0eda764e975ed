extension [Query.Order] {
    /// The orders of a query with those that the rules add: the fields with an inequality, then the document's name.
    ///
    /// - Parameter inequalityFields: In order.
    /// - Throws: ``StatusCode/invalidArgument`` when a field is none, twice there, or must come before the name.
    func completed(with inequalityFields: [FieldPath]) throws(StatusError) -> [Query.Order] {
        let place = QueryPlace("orderBy")
        var seen = Set<Query.Order.Key>()
        for (index, order) in enumerated() {
            try place.element(index).member("field").of { () throws(StatusError) in try order.validateField() }
            guard seen.insert(order.key).inserted else {
                throw place.element(index).error(
                    "The order contains \(order.key.field) twice. Leave one of them out.",
                    field: order.key.field
                )
            }
        }
        let nameIndex = firstIndex(where: \.isByName)
        if let nameIndex, let field = inequalityFields.first(where: { !self[..<nameIndex].contains(.field($0)) }) {
            throw place.element(nameIndex).error(
                "An inequality on \(field) needs an order by that field before the one by __name__. "
                    + "Put it before, or leave the order by __name__ out.",
                field: field
            )
        }
        var orders = self
        for field in inequalityFields where !contains(.field(field)) {
            orders.append(Query.Order(.field(field), lastDirection))
        }
        if nameIndex == nil { orders.append(.name(lastDirection)) }
        return orders
    }

    /// Adds fields that are not among the orders before the document's name, which is the last.
    mutating func insert(fields: [FieldPath]) {
        guard let name = popLast() else { return }
        for field in fields where !contains(.field(field)) { append(Query.Order(.field(field), name.direction)) }
        append(name)
    }

    private var lastDirection: Query.Order.Direction {
        last?.direction ?? .ascending
    }
}

extension Sequence<Query.Order> {
    fileprivate func contains(_ key: Query.Order.Key) -> Bool {
        contains { $0.key == key }
    }
}

extension Query.Order {
    fileprivate func validateField() throws(StatusError) {
        switch key {
        case .field(let field): try field.validateInQuery()
        case .distance(let field, _): try field.validate()
        }
    }
}
