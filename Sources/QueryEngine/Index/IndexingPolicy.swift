package import DocumentModel
package import DocumentStore

/// The indexing policy of the collections with a given ID: their composite indexes and their single-field exemptions.
package struct IndexingPolicy: Hashable, Sendable {
    /// The fields of each composite index.
    package var composites: Set<[IndexDefinition.Field]>
    /// The exempted fields; an exemption includes all subfields.
    package var exempt: Set<FieldPath>
    /// True if no field has entries, so that only document names are indexed.
    private var indexesNamesOnly = false

    /// Creates a policy.
    package init(composites: Set<[IndexDefinition.Field]> = [], exempt: Set<FieldPath> = []) {
        self.composites = composites
        self.exempt = exempt
    }

    /// The policy of the set of all documents, regardless of their collection.
    package static let namesOnly: IndexingPolicy = {
        var policy = IndexingPolicy()
        policy.indexesNamesOnly = true
        return policy
    }()

    /// Returns whether a field has no single-field index.
    package func isExempt(_ field: FieldPath) -> Bool {
        indexesNamesOnly || exempt.contains { field.segments.starts(with: $0.segments) }
    }
}
