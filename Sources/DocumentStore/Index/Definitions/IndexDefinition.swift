package import DocumentModel
package import StrictJSON

/// An index of several fields together, for all collections with an ID and for their collection group.
///
/// Each document that has all of the fields is in it once, in the order of the first field, where that is equal of the second,
/// and so on. A query whose equalities name the first fields, and whose order the others, need not look at anything else.
package struct IndexDefinition: Hashable, Sendable {
    /// One of the fields.
    package struct Field: Hashable, Sendable {
        /// The field.
        package let field: FieldPath
        /// Which end comes first.
        package let direction: Query.Order.Direction

        /// Makes a field of an index.
        package init(_ field: FieldPath, _ direction: Query.Order.Direction = .ascending) {
            self.field = field
            self.direction = direction
        }
    }

    /// The ID of the collections.
    package let collection: CollectionID
    /// The fields; at least two.
    package let fields: [Field]

    /// How many fields there may be, as in Firestore.
    private static let maximumFieldCount = 100

    /// Makes a definition.
    ///
    /// - Throws: `.invalidArgument` when there are too few or too many fields, one twice, or the document's name.
    package init(collection: CollectionID, fields: [Field]) throws(StatusError) {
        guard (2...Self.maximumFieldCount).contains(fields.count) else {
            throw StatusError(
                .invalidArgument,
                "An index has 2 to \(Self.maximumFieldCount) fields, and this one \(fields.count). Single fields are indexed without."
            )
        }
        guard Set(fields.map(\.field)).count == fields.count else {
            throw StatusError(.invalidArgument, "A field is named twice. Name each field of an index once.")
        }
        guard !fields.contains(where: \.field.isDocumentName) else {
            throw StatusError(.invalidArgument, "__name__ is the last order of every index. Leave it out.")
        }
        self.collection = collection
        self.fields = fields
    }
}

/// A field that is not indexed by itself in all collections with an ID, with all that is in it.
package struct IndexExemption: Hashable, Sendable {
    /// The ID of the collections.
    package let collection: CollectionID
    /// The field.
    package let field: FieldPath

    /// Makes an exemption.
    ///
    /// - Throws: `.invalidArgument` for the document's name.
    package init(collection: CollectionID, field: FieldPath) throws(StatusError) {
        guard !field.isDocumentName else { throw StatusError(.invalidArgument, "__name__ can't be exempted. Name a field.") }
        self.collection = collection
        self.field = field
    }
}

/// A change of what is indexed.
package enum IndexChange: Hashable, Sendable {
    /// Another index.
    case create(IndexDefinition)
    /// No longer the index with an ID.
    case delete(id: String)
    /// A field is not to be indexed by itself.
    case exempt(IndexExemption)
    /// A field is to be indexed again.
    case unexempt(IndexExemption)
}

/// What is indexed beside the single fields, and what isn't.
package struct IndexReport: Sendable {
    /// How far something is.
    package enum Progress: Hashable, Sendable {
        /// Queries use it.
        case ready
        /// It is being made; so many documents are done, of as many as it says where that is known.
        case building(documents: Int, of: Int? = nil)
        /// It can't be used now, for a reason that people can read.
        case unavailable(because: String)
    }

    /// The index of single fields, which every query needs.
    package var fields = Progress.ready
    /// The indexes of several fields.
    package var indexes: [(id: String, definition: IndexDefinition, progress: Progress)] = []
    /// The fields that are not indexed by themselves.
    package var exemptions: [IndexExemption] = []

    /// The collections whose documents are still to be given other entries than before, by ID, with how many are done.
    package var changes: [(collection: CollectionID, progress: Progress)] = []

    /// Makes an empty report.
    package init() {}
}

extension IndexDefinition {
    /// Writes the definition as members of an object: `"collection": …, "fields": [{"field": …, "direction": …}, …]`.
    package func writeMembers(to writer: inout JSONWriter) {
        writer.key("collection")
        writer.string(collection.key.string)
        writer.key("fields")
        writer.fields(fields)
    }
}

extension IndexExemption {
    /// Writes the exemption as an object: `{"collection": …, "field": …}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("collection")
        writer.string(collection.key.string)
        writer.key("field")
        writer.string(field.description)
        writer.endObject()
    }
}
