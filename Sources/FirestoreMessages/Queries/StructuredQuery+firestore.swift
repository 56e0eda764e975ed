package import DocumentModel

extension StructuredQuery {
    /// Returns the only source of a query.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if there are none or several.
    package static func onlySource(in sources: [Source]) throws(StatusError) -> Source {
        guard sources.count == 1, let source = sources.first else {
            throw StatusError(.invalidArgument, "Expected exactly one collection selector, found \(sources.count).")
                .prefixingPath(with: "from")
        }
        return source
    }
}

extension StructuredQuery.Source {
    /// Creates a source from the parts of a collection selector.
    ///
    /// - Parameters:
    ///   - text: The ID of the collections; empty for all.
    ///   - parent: The parent document of the request, or `nil` for the root.
    package init(collectionID text: String, allDescendants: Bool, below parent: DocumentPath?) throws(StatusError) {
        guard !text.utf8.isEmpty else {
            guard allDescendants else {
                throw StatusError(
                    .unimplemented,
                    "collectionId or allDescendants is required: querying all child collections of a document is not supported."
                )
            }
            self = .descendants(of: parent)
            return
        }
        let id = try CollectionID(text)
        self = allDescendants ? .collectionGroup(id, below: parent) : .collection(CollectionPath(parent: parent, id: id))
    }
}

extension StructuredQuery.Order.Direction {
    /// The directions of an order in a message.
    package static let messageValues = ProtoEnumeration<StructuredQuery.Order.Direction>([
        (1, "ASCENDING", .ascending), (2, "DESCENDING", .descending), (0, "DIRECTION_UNSPECIFIED", .ascending),
    ])
}

extension StructuredQuery.Cursor {
    /// Creates a cursor from the parts of a message.
    ///
    /// - Parameters:
    ///   - isBefore: True if the position is before documents at the values, otherwise after them.
    ///   - isStart: True for the start of the result, false for its end.
    package init(_ values: [Value], isBefore: Bool, isStart: Bool) {
        self.init(values, isInclusive: isBefore == isStart)
    }
}

extension VectorSearch {
    /// Creates a vector search from the parts of a message.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if a required one is absent, or the query vector is not a vector.
    package init(
        field: FieldPath?,
        queryVector: Value?,
        measure: Measure?,
        limit: Int?,
        distanceField: FieldPath?,
        threshold: Double?
    ) throws(StatusError) {
        let vector = try queryVector.map { value throws(StatusError) in
            guard case .vector(let vector) = value else {
                throw StatusError(
                    .invalidArgument,
                    "Expected a vector: a mapValue with the fields __type__ (\"__vector__\") and value."
                )
                .prefixingPath(with: "queryVector")
            }
            return vector
        }
        guard let vector, let measure, let limit else {
            throw StatusError(.invalidArgument, "vectorField, queryVector, distanceMeasure and limit are required.")
        }
        guard let field else { throw .missing("vectorField") }
        self.init(
            field: field,
            vector: vector,
            measure: measure,
            limit: limit,
            distanceField: distanceField,
            threshold: threshold
        )
    }

    /// The distance measures in a message.
    package static let measures = ProtoEnumeration<Measure>([
        (1, "EUCLIDEAN", .euclidean), (2, "COSINE", .cosine), (3, "DOT_PRODUCT", .dotProduct),
    ])
}
