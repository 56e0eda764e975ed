package import UTF8Text

/// A validated query with all implied orders, prepared for matching documents.
///
/// The result of a query is, in this order: the documents of the ``source`` that ``match(_:at:)``, sorted by ``orders``,
/// without the first ``offset``, limited to ``limit``, reversed if ``isReversed``; of these, the nearest by ``vectorSearch``;
/// each ``projected(_:distance:)``.
package struct NormalizedQuery: Sendable {
    /// The collections to query.
    package let source: StructuredQuery.Source
    /// The filter in disjunctive normal form.
    package let filter: NormalizedFilter
    /// The orders, always including the document name, so that the order is total.
    package let orders: [StructuredQuery.Order]
    /// The start cursor, with references for document names.
    package private(set) var start: StructuredQuery.Cursor?
    /// The end cursor, with references for document names.
    package let end: StructuredQuery.Cursor?
    /// The number of documents to skip.
    package let offset: Int
    /// The maximum number of documents.
    package private(set) var limit: Int?
    /// True if the documents are returned in reverse ``orders``.
    package let isReversed: Bool
    /// The fields that a document must have, sorted: those of the orders and the aggregated fields.
    package let requiredFields: [FieldPath]
    /// The required fields that are not in the orders.
    let unsortedFields: [FieldPath]
    /// The fields to return, sorted; `nil` for all.
    package private(set) var projection: [FieldPath]?
    /// The nearest-neighbor search over the result; `nil` for none.
    package let vectorSearch: VectorSearch?

    /// Validates and normalizes a query.
    ///
    /// The orders are the explicit ones, then the remaining fields with an inequality by path, then the aggregated fields, then
    /// the document name. Implied orders have the direction of the last explicit one. A limit to the last documents becomes a
    /// limit to the first ones in reverse order.
    ///
    /// - Parameter aggregatedFields: The fields of ``NormalizedAggregations``. They are added to the orders only if that doesn't
    ///   change the meaning of the cursors.
    /// - Throws: ``StatusCode/invalidArgument`` with the parameter path in the query's JSON.
    package init(_ query: StructuredQuery, aggregating aggregatedFields: [FieldPath] = []) throws(StatusError) {
        let (filter, inequalityFields) = try NormalizedFilter.normalizing(query.filter, in: query.source)
        let named = try query.orders.completed(with: inequalityFields)
        let start = try query.start?.bound(to: named, in: query.source, at: "start")
        let end = try query.end?.bound(to: named, in: query.source, at: "end")
        try query.validateCounts()
        try query.vectorSearch?.validate()
        var orders = named
        if !query.orders.contains(where: \.isByName), [start, end].allSatisfy({ ($0?.values.count ?? 0) < named.count }) {
            orders.insert(fields: aggregatedFields)
        }
        self.filter = filter
        source = query.source
        offset = query.offset
        vectorSearch = query.vectorSearch
        projection = try query.validatedProjection()
        let sortedFields = Set(orders.map(\.key.field)).subtracting([.documentName])
        unsortedFields = Set(aggregatedFields).subtracting(sortedFields).sorted()
        requiredFields = sortedFields.union(aggregatedFields).sorted()
        switch query.limit {
        case .last(let count):
            (self.start, self.end) = (end, start)
            self.orders = orders.map(\.reversed)
            limit = count
            isReversed = query.vectorSearch == nil
        case .first(let count):
            (self.start, self.end, self.orders, limit, isReversed) = (start, end, orders, count, false)
        case nil:
            (self.start, self.end, self.orders, limit, isReversed) = (start, end, orders, nil, false)
        }
    }
}

extension NormalizedQuery {
    /// The query without a projection.
    package var withoutProjection: NormalizedQuery {
        var query = self
        query.projection = nil
        return query
    }

    /// The query without any fields of the documents.
    package var ofNames: NormalizedQuery {
        var query = self
        query.projection = []
        return query
    }

    /// Returns the query for a page of the result of a query without a limit.
    ///
    /// - Parameters:
    ///   - last: The sort key of the last document of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of documents.
    package func page(after last: SortKey?, limit: Int) -> NormalizedQuery {
        var page = self
        if let last { page.start = StructuredQuery.Cursor(last.values, isInclusive: false) }
        page.limit = limit
        return page
    }
}

extension NormalizedQuery {
    /// True if results have all stored fields unchanged, so that documents need not be decoded.
    package var returnsWholeDocuments: Bool {
        projection == nil && vectorSearch?.distanceField == nil
    }

    /// The top-level fields that are needed to match a document and to return it; `nil` for all.
    package var requiredNames: [UTF8Key]? {
        guard projection != nil || returnsWholeDocuments else { return nil }
        let fields = filter.disjuncts.joined().map(\.field) + requiredFields + (projection ?? [])
        let names = fields.filter { !$0.isDocumentName }.compactMap(\.segments.first)
        return Array(Set(names + (vectorSearch?.field.segments.prefix(1) ?? [])))
    }

    /// Returns the fields of a document in the result.
    ///
    /// - Parameter distance: The document's distance in ``vectorSearch``.
    package func projected(_ fields: MapValue, distance: Double? = nil) -> MapValue {
        var fields = fields
        // Before the projection, which may exclude the distance field.
        if let distance, let field = vectorSearch?.distanceField { fields.set(.double(distance), at: field) }
        return projection.map { fields.masked($0) } ?? fields
    }
}
