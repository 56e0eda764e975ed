import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

extension IndexDefinition {
    /// Creates the composite index whose entries are in the order of a query, after the fields that it compares by equality; `nil` if
    /// no composite index serves the query.
    init?(serving query: NormalizedQuery) {
        let collection: CollectionID
        switch query.source {
        case .collection(let path): collection = path.id
        case .collectionGroup(let id, _): collection = id
        case .descendants: return nil
        }
        // Each alternative of a disjunction would need an index of its own.
        guard query.vectorSearch == nil, query.filter.disjuncts.count == 1, let predicates = query.filter.disjuncts.first else {
            return nil
        }
        var fields: [Field] = []
        for predicate in predicates where !predicate.field.isDocumentName {
            guard case .equals(let values) = predicate.test, values.sorted.count == 1 else { continue }
            fields.append(Field(predicate.field))
        }
        fields.sort { $0.field < $1.field }
        let fixed = Set(fields.map(\.field))
        for order in query.orders {
            guard case .field(let field) = order.key else { return nil }
            // The document name follows in every index.
            if field.isDocumentName { break }
            if !fixed.contains(field) { fields.append(Field(field, order.direction)) }
        }
        try? self.init(collection: collection, fields: fields)
    }

    /// Creates the composite index that an explained query would benefit from; `nil` if the query costs little more than its result, or
    /// if there is such an index already.
    ///
    /// - Parameter indexes: The indexes of the database.
    init?(for query: NormalizedQuery, explainedAs result: ExplainQuery.Result, besides indexes: IndexReport) {
        // The offset is as large as the caller likes.
        let count = result.resultCount + min(query.offset, Int(Int32.max))
        let isCheap =
            result.metrics.documentsRead <= count && result.metrics.entriesScanned <= 2 * count + Self.minimumScannedEntries
        guard !isCheap, let definition = IndexDefinition(serving: query),
            !indexes.indexes.contains(where: { $0.definition == definition })
        else { return nil }
        self = definition
    }

    /// The number of index entries beyond the result that an index is recommended for.
    private static let minimumScannedEntries = 16
}

/// The form that creates the composite index that a query would benefit from.
struct IndexAdviceView: ViewModel {
    private let action = AdminURL.settings
    /// The form value of the collection.
    private let collectionText: String
    /// The form value of the fields.
    private let fieldsText: String
    private let collection: DisplayText
    private let indexFields: [DisplayText]
    /// The page with the plan.
    private let returnURL: String

    /// Creates the form; returns `nil` for fields that the form can't name.
    init?(_ definition: IndexDefinition, returnURL: String) {
        let names = definition.fields.map { field in
            // Also the ascending ones, since a field may be named like a direction.
            field.field.description + (field.direction == .descending ? " desc" : " asc")
        }
        guard names.allSatisfy({ FormTextCoding.roundTrips($0, lines: .single) }) else { return nil }
        collectionText = FormTextCoding.encodeLine(definition.collection.key.string)
        fieldsText = names.joined(separator: "\n")
        collection = DisplayText(definition.collection.key.string)
        indexFields = definition.fields.map { DisplayText("\($0.field) \($0.direction == .ascending ? "↑" : "↓")") }
        self.returnURL = returnURL
    }
}
