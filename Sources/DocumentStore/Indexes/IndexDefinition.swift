package import DocumentModel

/// A composite index, for all collections with a given ID and for their collection group.
///
/// Each document that has all of the fields has one entry, ordered by the first field, then by the second, and so on. A query
/// whose equality filters name the leading fields, and whose order names the others, reads only its result.
package struct IndexDefinition: Hashable, Sendable {
    /// A field of the index with its direction.
    package struct Field: Hashable, Sendable {
        /// The field path.
        package let field: FieldPath
        /// The sort direction.
        package let direction: StructuredQuery.Order.Direction

        /// Creates a field of an index.
        package init(_ field: FieldPath, _ direction: StructuredQuery.Order.Direction = .ascending) {
            self.field = field
            self.direction = direction
        }
    }

    /// The ID of the collections.
    package let collection: CollectionID
    /// The fields; at least two.
    package let fields: [Field]

    /// The maximum number of fields, as in Firestore.
    private static let maximumFieldCount = 100

    /// Creates a definition.
    ///
    /// - Throws: `.invalidArgument` when there are too few or too many fields, a duplicate field, or the document name.
    package init(collection: CollectionID, fields: [Field]) throws(StatusError) {
        guard (2...Self.maximumFieldCount).contains(fields.count) else {
            throw StatusError(
                .invalidArgument,
                "A composite index has 2 to \(Self.maximumFieldCount) fields, not \(fields.count). "
                    + "Single fields are indexed automatically."
            )
        }
        guard Set(fields.map(\.field)).count == fields.count else {
            throw StatusError(.invalidArgument, "Duplicate field. Each field can occur only once in an index.")
        }
        guard !fields.contains(where: \.field.isDocumentName) else {
            throw StatusError(.invalidArgument, "__name__ is implicitly the last field of every index. Remove it.")
        }
        self.collection = collection
        self.fields = fields
    }
}

/// A single-field index exemption: a field that, with all its subfields, has no index in any collection with a given ID.
package struct IndexExemption: Hashable, Sendable {
    /// The ID of the collections.
    package let collection: CollectionID
    /// The exempted field.
    package let field: FieldPath

    /// Creates an exemption.
    ///
    /// - Throws: `.invalidArgument` for the document name.
    package init(collection: CollectionID, field: FieldPath) throws(StatusError) {
        guard !field.isDocumentName else { throw StatusError(.invalidArgument, "__name__ cannot be exempted. Specify a field.") }
        self.collection = collection
        self.field = field
    }
}

/// A change to the index definitions.
package enum IndexChange: Hashable, Sendable {
    /// Adds a composite index.
    case create(IndexDefinition)
    /// Removes the composite index with a given ID.
    case delete(id: String)
    /// Exempts a field.
    case exempt(IndexExemption)
    /// Removes an exemption, so that the field is indexed again.
    case unexempt(IndexExemption)
}

/// The composite indexes and exemptions of a database, with the state of each.
package struct IndexReport: Sendable {
    /// The build state of an index.
    package enum BuildState: Hashable, Sendable {
        /// Queries use the index.
        case ready
        /// The index is being built: the number of documents processed, and the total if it is known.
        case building(documents: Int, of: Int? = nil)
        /// The index cannot currently be used.
        case unavailable(reason: String)
    }

    /// The state of the single-field indexes, which every query needs.
    package var singleFields = BuildState.ready
    /// The error with which queries fail, because the single-field indexes cannot be used; `nil` while they succeed, or wait.
    package var queryError: StatusError?
    /// The composite indexes.
    package var indexes: [(id: String, definition: IndexDefinition, buildState: BuildState)] = []
    /// The single-field exemptions.
    package var exemptions: [IndexExemption] = []

    /// The running and pending backfills, by collection ID.
    package var backfills: [(collection: CollectionID, buildState: BuildState)] = []

    /// Creates an empty report.
    package init() {}
}
