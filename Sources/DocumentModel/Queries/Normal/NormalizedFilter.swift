/// A filter in disjunctive normal form: alternatives, of which one must be fulfilled, each of predicates that all must be.
///
/// `in` and `array-contains-any` remain one predicate each, although they count as many. Ranges on one field are
/// intersected, duplicates removed, and alternatives that nothing can fulfil left out.
package struct NormalizedFilter: Hashable, Sendable {
    /// The alternatives: none when no document can match, one without predicates when all do.
    package let alternatives: [[Predicate]]

    /// Whether a document with these fields matches.
    package func matches(_ fields: MapValue, at path: DocumentPath) -> Bool {
        firstMatch(fields, at: path) != nil
    }

    /// The number of the first alternative that a document with these fields fulfils; nil when it fulfils none.
    package func firstMatch(_ fields: MapValue, at path: DocumentPath) -> Int? {
        alternatives.firstIndex { predicates in
            predicates.allSatisfy { $0.matches(fields, at: path) }
        }
    }
}

extension NormalizedFilter {
    /// Takes the alternatives of a filter, each the conditions that all must be fulfilled.
    init(_ alternatives: [[FilterLeaf]]) {
        var distinct = Set<Set<Predicate>>()
        self.alternatives = alternatives.compactMap { leaves in
            guard let predicates = Self.predicates(leaves), distinct.insert(Set(predicates)).inserted else { return nil }
            return predicates
        }
    }

    /// The predicates in the order of the conditions; nil when no document can fulfil all of them.
    private static func predicates(_ leaves: [FilterLeaf]) -> [Predicate]? {
        var predicates: [Predicate] = []
        var known = Set<Predicate>()
        var ranges: [FieldPath: (index: Int, range: ValueRange)] = [:]
        for leaf in leaves {
            guard let test = Predicate.Test(leaf.condition) else { return nil }
            let predicate = Predicate(field: leaf.field, test: test)
            guard case .range(let range) = test else {
                if known.insert(predicate).inserted { predicates.append(predicate) }
                continue
            }
            if let (index, other) = ranges[leaf.field] {
                guard let both = other.intersection(range) else { return nil }
                ranges[leaf.field] = (index, both)
                predicates[index] = Predicate(field: leaf.field, test: .range(both))
            } else {
                ranges[leaf.field] = (predicates.count, range)
                predicates.append(predicate)
            }
        }
        return predicates
    }
}
