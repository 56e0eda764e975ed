internal import DocumentModel
internal import StrictJSON

/// A document that a query has found.
struct FoundDocument: Sendable {
    let path: DocumentPath
    /// Where it stands in the order.
    let key: NormalizedQuery.SortKey
    /// How far its vector is, for a search of vectors.
    let distance: Double?
    /// The document as the result has it; nil when there was no room to keep it.
    var document: EncodedDocument?
    /// About the memory that it takes without the document.
    let keyBytes: Int

    /// Takes a document that matches; nil when its vector is none that the query searches for.
    ///
    /// - Parameter mask: The only fields that are wanted; what the query says when nil.
    init?(
        _ document: EncodedDocument,
        _ fields: MapValue,
        _ key: NormalizedQuery.SortKey,
        of query: NormalizedQuery,
        _ mask: [FieldPath]? = nil
    ) {
        distance = query.vectorSearch?.distance(of: fields)
        if query.sortsByVectorOnly, distance == nil { return nil }
        path = document.path
        self.key = key
        self.document = query.shaped(document, fields, distance, mask)
        keyBytes = key.values.reduce(256) { $0 + $1.memoryBytes }
    }
}

extension Value {
    /// About the memory that the value takes.
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

extension NormalizedQuery {
    /// A document as the result has it.
    ///
    /// - Parameter mask: The only fields that are wanted, in order; what the query says when nil.
    func shaped(
        _ document: EncodedDocument,
        _ fields: MapValue,
        _ distance: Double?,
        _ mask: [FieldPath]?
    ) -> EncodedDocument {
        if let mask { return document.with(fields.masked(mask)) }
        return givesWholeDocuments ? document : document.with(shape(fields, distance: distance))
    }
}

extension NormalizedQuery {
    /// The names of the fields at the top of which the query has to know; nil for all.
    var neededNames: [UTF8Key]? {
        guard projection != nil || givesWholeDocuments else { return nil }
        let fields = filter.alternatives.joined().map(\.field) + requiredFields + (projection ?? [])
        let names = fields.filter { !$0.isDocumentName }.compactMap(\.segments.first)
        return Array(Set(names + (vectorSearch?.field.segments.prefix(1) ?? [])))
    }
}

extension EncodedDocument {
    /// The document with other fields.
    fileprivate func with(_ fields: MapValue) -> EncodedDocument {
        EncodedDocument(Document(path: path, fields: fields, createTime: createTime, updateTime: updateTime))
    }
}
