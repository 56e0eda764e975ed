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
