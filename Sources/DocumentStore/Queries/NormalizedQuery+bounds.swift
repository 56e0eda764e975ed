internal import DocumentModel

extension NormalizedQuery {
    /// How many documents have to be found, those that are passed over included; all when nil.
    var neededCount: Int? {
        limit.map { limit in
            let (sum, overflowed) = limit.addingReportingOverflow(offset)
            return overflowed ? .max : sum
        }
    }

    /// Whether all that the query finds are compared by their vectors, so that their order hardly matters.
    var sortsByVectorOnly: Bool { vectorSearch != nil && limit == nil && offset == 0 }

    /// Whether a document comes before another: in the order of the query, or as the closer one where only that matters.
    func precedes(_ left: FoundDocument, _ right: FoundDocument) -> Bool {
        if sortsByVectorOnly, let search = vectorSearch, let first = left.distance, let second = right.distance, first != second {
            return search.measure.isCloser(first, than: second)
        }
        return compare(left.key, right.key) == .less
    }
}

extension StatusError {
    /// The error for a result that is larger than an answer.
    static func resultTooLarge(_ maximumBytes: Int) -> StatusError {
        StatusError(
            .resourceExhausted,
            "The documents are larger than the \(maximumBytes) bytes of an answer. Ask for fewer with limit, and for the next ones "
                + "with a cursor that begins behind the last."
        )
    }
}
