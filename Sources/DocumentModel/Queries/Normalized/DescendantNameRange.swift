internal import UTF8Text

/// The range of the names of all documents in and below a collection, for recursive queries.
package struct DescendantNameRange: Sendable {
    /// The least possible name in the range.
    package let first: DocumentPath
    /// The exclusive upper bound; `nil` if there is none.
    package let end: DocumentPath?

    /// Creates the range of a collection.
    package init(_ collection: CollectionPath) {
        first = collection.document(.least)
        end = collection.id.successor.map { CollectionPath(parent: collection.parent, id: $0).document(.least) }
    }

    /// The filter that selects the range from all descendants of a document.
    package var filter: QueryFilter {
        let start = QueryFilter.field(.documentName, .greaterOrEqual(.reference(first)))
        guard let end else { return start }
        return .and([start, .field(.documentName, .less(.reference(end)))])
    }

    /// Returns whether the range contains another one.
    func contains(_ range: ValueRange) -> Bool {
        guard let lower = range.lower, case .reference(let from) = lower.value, from >= first else { return false }
        guard let end else { return true }
        guard let upper = range.upper, case .reference(let to) = upper.value else { return false }
        return upper.isInclusive ? to < end : to <= end
    }
}

extension NormalizedFilter {
    /// Returns whether the filter's conditions on the document name confine matches to documents in or below `collections`.
    package func matchesOnlyDescendants(of collections: [CollectionPath]) -> Bool {
        let ranges = collections.map(DescendantNameRange.init)
        return disjuncts.allSatisfy { predicates in
            predicates.contains { predicate in
                guard predicate.field.isDocumentName, case .range(let range) = predicate.test else { return false }
                return ranges.contains { $0.contains(range) }
            }
        }
    }
}

extension DocumentPath.ID {
    /// The first ID in order.
    fileprivate static let least = DocumentPath.ID(unchecked: "__id-9223372036854775808__")
}
