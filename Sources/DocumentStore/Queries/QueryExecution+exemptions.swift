internal import DocumentModel
internal import StrictJSON

extension QueryExecution {
    /// Makes sure that what the query needs to know of is indexed, be it in an index of several fields.
    ///
    /// - Throws: `.failedPrecondition` naming the field and what to do.
    func checkExemptions() throws(StatusError) {
        guard !rules.exempt.isEmpty, let collection = index.names.collection else { return }
        let walked = QueryWalk(query, alternatives, index.names, rules).map { $0.isComposite ? $0.fields : [] } ?? []
        let everywhere = Set(query.requiredFields).union(query.vectorSearch.map { [$0.field] } ?? [])
        for alternative in alternatives {
            let covered = walked.union(alternative.compositeFields)
            let needed = alternative.fields.union(everywhere).subtracting(covered)
            guard let field = needed.filter(rules.isExempt).min() else { continue }
            throw StatusError(
                .failedPrecondition,
                "The query needs an index of the field \(field), which is exempted from being indexed in collections with the ID "
                    + "\(Excerpt(collection.key.string)). End that with indexes.unexempt, or make an index of all fields of the query's equalities and orders "
                    + "with indexes.create."
            )
        }
    }
}
