/// A filter in disjunctive normal form: a disjunction of conjunctions of predicates.
///
/// `in` and `array-contains-any` stay one predicate each, although they count as several disjuncts. Ranges on a field are
/// intersected, duplicates are removed, and unsatisfiable disjuncts are omitted.
package struct NormalizedFilter: Hashable, Sendable {
    /// The disjuncts: none if no document can match, one without predicates if all documents match.
    package let disjuncts: [[Predicate]]

    /// Returns whether a document matches.
    package func matches(_ fields: MapValue, at path: DocumentPath) -> Bool {
        firstMatchingDisjunct(fields, at: path) != nil
    }

    /// Returns the index of the first disjunct that a document matches, or `nil` if it matches none.
    package func firstMatchingDisjunct(_ fields: MapValue, at path: DocumentPath) -> Int? {
        disjuncts.firstIndex { predicates in
            predicates.allSatisfy { $0.matches(fields, at: path) }
        }
    }
}

extension NormalizedFilter {
    /// Creates a filter from disjuncts, each a conjunction of field filters.
    init(_ disjuncts: [[FieldFilter]]) {
        var distinct = Set<Set<Predicate>>()
        self.disjuncts = disjuncts.compactMap { filters in
            guard let predicates = Self.predicates(filters), distinct.insert(Set(predicates)).inserted else { return nil }
            return predicates
        }
    }

    /// Returns the predicates in the order of the field filters, or `nil` if the conjunction is unsatisfiable.
    private static func predicates(_ filters: [FieldFilter]) -> [Predicate]? {
        var predicates: [Predicate] = []
        var known = Set<Predicate>()
        var ranges: [FieldPath: (index: Int, range: ValueRange)] = [:]
        for filter in filters {
            guard let test = Predicate.Test(filter.condition) else { return nil }
            let predicate = Predicate(field: filter.field, test: test)
            guard case .range(let range) = test else {
                if known.insert(predicate).inserted { predicates.append(predicate) }
                continue
            }
            if let (index, other) = ranges[filter.field] {
                guard let both = other.intersection(range) else { return nil }
                ranges[filter.field] = (index, both)
                predicates[index] = Predicate(field: filter.field, test: .range(both))
            } else {
                ranges[filter.field] = (predicates.count, range)
                predicates.append(predicate)
            }
        }
        return predicates
    }
}
