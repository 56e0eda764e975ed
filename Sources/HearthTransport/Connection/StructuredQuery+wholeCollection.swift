internal import DocumentModel

extension StructuredQuery {
    /// The collection, if the query returns all its documents.
    package var wholeCollection: CollectionPath? {
        guard case .collection(let collection) = source, self == StructuredQuery(source) else { return nil }
        return collection
    }
}
