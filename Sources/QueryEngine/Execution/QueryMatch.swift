internal import DocumentModel
internal import UTF8Text

/// A document that matches a query.
struct QueryMatch: Sendable {
    let path: DocumentPath
    /// The document's position in the query's order.
    let key: NormalizedQuery.SortKey
    /// The distance of its vector, in a vector search.
    let distance: Double?
    /// The document with the fields of the result; `nil` if it was dropped to save memory.
    var document: EncodedDocument?
    /// The approximate memory use without the document.
    let keyBytes: Int

    /// Creates a match; `nil` if a vector search excludes the document.
    ///
    /// - Parameter mask: The fields to return; `nil` for the query's projection.
    init?(
        _ document: EncodedDocument,
        _ fields: MapValue,
        _ key: NormalizedQuery.SortKey,
        of query: NormalizedQuery,
        _ mask: [FieldPath]? = nil
    ) {
        distance = query.vectorSearch?.distance(of: fields)
        if query.isExhaustiveVectorSearch, distance == nil { return nil }
        path = document.path
        self.key = key
        self.document = query.resultDocument(document, fields, distance, mask)
        keyBytes = key.values.reduce(256) { $0 + $1.memoryBytes }
    }
}

extension Value {
    /// The approximate memory use of the value.
    fileprivate var memoryBytes: Int {
        switch self {
        case .null, .boolean, .integer, .double, .timestamp, .geoPoint: 16
        case .reference: 128
        case .string(let text): 32 + text.utf8.count
        case .bytes(let bytes): 32 + bytes.count
        case .vector(let vector): 32 + 8 * vector.count
        case .array(let elements): elements.reduce(32) { $0 + $1.memoryBytes }
        case .map(let map): map.reduce(32) { $0 + 32 + $1.key.byteCount + $1.value.memoryBytes }
        }
    }
}
