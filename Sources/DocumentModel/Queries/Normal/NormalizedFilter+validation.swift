extension NormalizedFilter {
    /// How many values `not-in` may have.
    package static let maximumExcludedValues = 10

    /// Checks a query's filter by all of Firestore's rules, and makes it ready.
    ///
    /// - Returns: The filter, and the fields with an inequality, in order and without the document's name.
    /// - Throws: ``StatusCode/invalidArgument`` with the place.
    static func normalizing(
        _ filter: Filter?,
        in source: Query.Source
    ) throws(StatusError) -> (filter: NormalizedFilter, inequalityFields: [FieldPath]) {
        guard let filter else { return (NormalizedFilter(alternatives: [[]]), []) }
        let place = QueryPlace("where")
        var leaves = try filter.leaves(at: place)
        for index in leaves.indices { leaves[index] = try leaves[index].resolved(in: source) }
        try validateNegations(leaves, hasChoice: filter.hasChoice)
        let disjunctions = filter.disjunctions
        guard disjunctions <= Filter.maximumDisjunctions else {
            throw place.error(
                "Expected a filter of at most \(Filter.maximumDisjunctions) disjunctions, found "
                    + "\(disjunctions == .max ? "very many more" : "\(disjunctions)"). The count is "
                    + "of its disjunctive normal form, in which in and array-contains-any stand for as many as they have values. "
                    + "Divide it among several queries."
            )
        }
        var next = 0
        let alternatives = filter.alternatives(countingFrom: &next).map { $0.map { leaves[$0] } }
        for alternative in alternatives { try validateNames(alternative) }
        let inequalityFields = Set(leaves.filter(\.condition.isInequality).map(\.field)).subtracting([.documentName])
        return (NormalizedFilter(alternatives), inequalityFields.sorted())
    }

    private static func validateNegations(_ leaves: [FilterLeaf], hasChoice: Bool) throws(StatusError) {
        let negations = leaves.filter(\.condition.isNegation)
        if negations.count > 1 {
            throw negations[1].operatorPlace.error(
                "A query can have at most one != or not-in (is not null and is not NaN included), and there is another "
                    + "before it. Put the values into one not-in, or divide the query.",
                field: negations[1].field
            )
        }
        guard let negation = negations.first, case .notIn(let values) = negation.condition else { return }
        if values.count > maximumExcludedValues {
            throw negation.place.member("value").error(
                "Expected at most \(maximumExcludedValues) values for not-in, found \(values.count).",
                field: negation.field
            )
        }
        if hasChoice {
            throw negation.operatorPlace.error(
                "not-in can't be combined with or. Divide the query.",
                field: negation.field
            )
        }
        for leaf in leaves {
            switch leaf.condition {
            case .in, .arrayContainsAny:
                throw negation.operatorPlace.error(
                    "not-in can't be combined with \(leaf.condition.operator.rawValue) on "
                        + "\(Excerpt(leaf.field.description)). Divide the query.",
                    field: negation.field
                )
            default:
                break
            }
        }
    }

    /// Refuses an inequality beside one particular document.
    private static func validateNames(_ leaves: [FilterLeaf]) throws(StatusError) {
        guard let inequality = leaves.first(where: { $0.condition.isInequality && !$0.field.isDocumentName }) else { return }
        for leaf in leaves where leaf.field.isDocumentName {
            guard case .equal = leaf.condition else { continue }
            throw leaf.operatorPlace.error(
                "== on __name__ can't be combined with an inequality on a field, as on "
                    + "\(Excerpt(inequality.field.description)). Read the document and compare its field, or leave one of them out.",
                field: leaf.field
            )
        }
    }
}
