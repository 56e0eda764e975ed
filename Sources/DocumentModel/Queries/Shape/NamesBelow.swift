internal import StrictJSON

/// The names of all documents in a collection and below it, as a range: recursive queries ask for all descendants in it.
package struct NamesBelow: Sendable {
    /// The least name that there can be.
    package let first: DocumentPath
    /// The least name behind all of them; nil when there can be none.
    package let end: DocumentPath?

    /// The names in a collection and below.
    package init(_ collection: CollectionPath) {
        first = collection.document(.least)
        end = collection.id.next.map { CollectionPath(parent: collection.parent, id: $0).document(.least) }
    }

    /// What finds them among all descendants of a document.
    package var filter: Filter {
        let begins = Filter.field(.documentName, .greaterOrEqual(.reference(first)))
        guard let end else { return begins }
        return .and([begins, .field(.documentName, .less(.reference(end)))])
    }

    /// Whether all names of a range are among these.
    func contains(_ range: ValueRange) -> Bool {
        guard let lower = range.lower, case .reference(let from) = lower.value, from >= first else { return false }
        guard let end else { return true }
        guard let upper = range.upper, case .reference(let to) = upper.value else { return false }
        return upper.isInclusive ? to < end : to <= end
    }
}

extension NormalizedFilter {
    /// Whether nothing is found but what is in some of these collections, or below, as the names asked for tell.
    package func findsOnly(below collections: [CollectionPath]) -> Bool {
        let names = collections.map(NamesBelow.init)
        return alternatives.allSatisfy { predicates in
            predicates.contains { predicate in
                guard predicate.field.isDocumentName, case .range(let range) = predicate.test else { return false }
                return names.contains { $0.contains(range) }
            }
        }
    }
}

extension DocumentID {
    /// The ID before all others.
    fileprivate static let least = DocumentID(unchecked: "__id-9223372036854775808__")
}
