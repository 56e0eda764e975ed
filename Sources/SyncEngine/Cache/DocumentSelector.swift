package import DocumentModel
package import UTF8Text

/// The condition of a query on documents without local writes, for caches that decode documents: most of them need not be decoded as a
/// whole to be passed over.
package struct DocumentSelector: Sendable {
    /// The fields at the top level of a document that ``selects(_:at:)`` needs.
    package let fields: Set<UTF8Key>
    private let query: NormalizedQuery

    /// Creates the condition of a query; `nil` if it needs no field.
    init?(_ query: NormalizedQuery) {
        let paths = query.filter.disjuncts.joined().map(\.field) + query.orders.map(\.key.field)
        fields = Set(paths.filter { $0 != .documentName }.compactMap(\.segments.first))
        guard !fields.isEmpty else { return nil }
        self.query = query
    }

    /// Returns whether a document matches.
    ///
    /// - Parameter fields: Those of the document's ``fields`` that exist. Others have no effect.
    package func selects(_ fields: MapValue, at path: DocumentPath) -> Bool {
        query.match(fields, at: path) != nil
    }
}

/// A position in the documents of a source, in the order in which a cache scans them.
package struct ScanPosition: Hashable, Sendable {
    /// The collection, by the number that the cache has given it.
    package let collection: Int64
    /// The change of the last document that was read.
    package let change: ChangeNumber
    /// The last document that was read, by its number.
    package let document: Int64

    /// Creates a position.
    package init(collection: Int64, change: ChangeNumber, document: Int64) {
        self.collection = collection
        self.change = change
        self.document = document
    }
}
