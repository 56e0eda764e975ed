extension Query {
    /// Checks the numbers of documents.
    func validateCounts() throws(StatusError) {
        try QueryPlace("offset").validateCount(offset)
        switch limit {
        case .first(let count):
            try QueryPlace("limit").validateCount(count)
        case .last(let count):
            let place = QueryPlace("limitToLast")
            try place.validateCount(count)
            guard !orders.isEmpty else {
                throw place.error(
                    "limitToLast() queries require specifying at least one orderBy() clause. "
                        + "Add an order, or use limit for the first documents."
                )
            }
        case nil:
            break
        }
    }

    /// The wanted fields in order; nil for all.
    func validatedProjection() throws(StatusError) -> [FieldPath]? {
        for (index, field) in projection.enumerated() {
            try QueryPlace("select").element(index).of { () throws(StatusError) in try field.validateInQuery() }
        }
        return projection.isEmpty ? nil : projection.filter { !$0.isDocumentName }.sorted()
    }
}

extension QueryPlace {
    fileprivate func validateCount(_ count: Int) throws(StatusError) {
        guard count >= 0 else { throw error("Expected a number of documents of 0 or more, found \(count).") }
    }
}

extension VectorSearch {
    /// Checks the search's fields and numbers.
    func validate() throws(StatusError) {
        let place = QueryPlace("findNearest")
        try place.member("field").of { () throws(StatusError) in try field.validate() }
        guard (1...DocumentLimits.maximumVectorDimensions).contains(vector.count) else {
            throw place.member("vector").error(
                "Expected a vector of 1 to \(DocumentLimits.maximumVectorDimensions) dimensions, found \(vector.count)."
            )
        }
        guard vector.allSatisfy(\.isFinite) else {
            throw place.member("vector").error("Expected a vector of finite numbers, found NaN or an infinity in it.")
        }
        guard (1...Self.maximumLimit).contains(limit) else {
            throw place.member("limit").error("Expected a limit of 1 to \(Self.maximumLimit) documents, found \(limit).")
        }
        guard threshold?.isNaN != true else {
            throw place.member("distanceThreshold").error("Expected a number as the threshold, found NaN.")
        }
        try place.member("distanceResultField").of { () throws(StatusError) in try distanceField?.validate() }
    }
}

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
