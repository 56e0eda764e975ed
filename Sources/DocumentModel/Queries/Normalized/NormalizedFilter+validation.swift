internal import UTF8Text

extension NormalizedFilter {
    /// The maximum number of values in `not-in`.
    package static let maximumExcludedValues = 10

    /// Validates a query's filter according to Firestore's rules, and normalizes it.
    ///
    /// - Returns: The filter, and the fields with an inequality, sorted and without the document name.
    /// - Throws: ``StatusCode/invalidArgument`` with the parameter path.
    static func normalizing(
        _ filter: QueryFilter?,
        in source: StructuredQuery.Source
    ) throws(StatusError) -> (filter: NormalizedFilter, inequalityFields: [FieldPath]) {
        guard let filter else { return (NormalizedFilter(disjuncts: [[]]), []) }
        let path = ParameterPath("where")
        var filters = try filter.fieldFilters(at: path)
        for index in filters.indices { filters[index] = try filters[index].resolved(in: source) }
        try validateNegations(filters, isDisjunctive: filter.isDisjunctive)
        let disjunctCount = filter.disjunctCount
        guard disjunctCount <= QueryFilter.maximumDisjunctCount else {
            throw path.error(
                "Expected a filter of at most \(QueryFilter.maximumDisjunctCount) disjunctions, found "
                    + "\(disjunctCount == .max ? "far more" : "\(disjunctCount)"). The count "
                    + "is that of the disjunctive normal form, in which `in` and `array-contains-any` count once per value. "
                    + "Split it into several queries."
            )
        }
        var next = 0
        let disjuncts = filter.disjuncts(countingFrom: &next).map { $0.map { filters[$0] } }
        for alternative in disjuncts { try validateNames(alternative) }
        let inequalityFields = Set(filters.filter(\.condition.isInequality).map(\.field)).subtracting([.documentName])
        return (NormalizedFilter(disjuncts), inequalityFields.sorted())
    }

    private static func validateNegations(_ filters: [FieldFilter], isDisjunctive: Bool) throws(StatusError) {
        let negations = filters.filter(\.condition.isNegation)
        if negations.count > 1 {
            throw negations[1].operatorPath.error(
                "A query can have at most one `!=` or `not-in` (including `is not null` and `is not NaN`), found a second one. "
                    + "Combine the values in one `not-in`, or split the query.",
                field: negations[1].field
            )
        }
        guard let negation = negations.first, case .notIn(let values) = negation.condition else { return }
        if values.count > maximumExcludedValues {
            throw negation.path.member("value").error(
                "Expected at most \(maximumExcludedValues) values for `not-in`, found \(values.count).",
                field: negation.field
            )
        }
        if isDisjunctive {
            throw negation.operatorPath.error(
                "`not-in` cannot be combined with `or`. Split the query.",
                field: negation.field
            )
        }
        for filter in filters {
            switch filter.condition {
            case .in, .arrayContainsAny:
                throw negation.operatorPath.error(
                    "`not-in` cannot be combined with `\(filter.condition.operator.rawValue)` on "
                        + "\(Excerpt(filter.field.description)). Split the query.",
                    field: negation.field
                )
            default:
                break
            }
        }
    }

    /// Rejects an equality on the document name combined with an inequality on a field.
    private static func validateNames(_ filters: [FieldFilter]) throws(StatusError) {
        guard let inequality = filters.first(where: { $0.condition.isInequality && !$0.field.isDocumentName }) else { return }
        for filter in filters where filter.field.isDocumentName {
            guard case .equal = filter.condition else { continue }
            throw filter.operatorPath.error(
                "`==` on __name__ cannot be combined with an inequality on a field, here "
                    + "\(Excerpt(inequality.field.description)). Read the document and compare its field, or remove one of them.",
                field: filter.field
            )
        }
    }
}
