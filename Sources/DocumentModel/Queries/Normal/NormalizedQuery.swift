/// A query that was checked, with all that Firestore's rules imply filled in, made ready to be asked of many documents.
///
/// What a query gives is, in this order: the documents of the ``source`` that ``match(_:at:)``, sorted by ``orders``,
/// without the first ``offset``, at most ``limit`` of them, the other way round when ``isReversed``; of these the closest by
/// ``vectorSearch``; each as ``shape(_:distance:)`` gives it.
package struct NormalizedQuery: Sendable {
    /// Where the documents are.
    package let source: Query.Source
    /// What they must fulfil.
    package let filter: NormalizedFilter
    /// How they are sorted, so that no two are equal: the document's name is always among the orders.
    package let orders: [Query.Order]
    /// Where the result begins, with references for names.
    package private(set) var start: Query.Cursor?
    /// Where the result ends, with references for names.
    package let end: Query.Cursor?
    /// How many documents are passed over.
    package let offset: Int
    /// How many documents there may be.
    package private(set) var limit: Int?
    /// Whether the documents, found in the order of ``orders``, are given in the opposite one.
    package let isReversed: Bool
    /// The fields that a document must have, in order: those of the orders and the aggregated ones.
    package let requiredFields: [FieldPath]
    /// Those of the required fields that are in no order.
    let unsortedFields: [FieldPath]
    /// The fields that are wanted, in order; all when nil.
    package private(set) var projection: [FieldPath]?
    /// Which of the documents come closest to a vector.
    package let vectorSearch: VectorSearch?

    /// Checks a query, and fills in what the rules imply.
    ///
    /// The order is the explicit one, then the other fields with an inequality by their paths, then the aggregated fields,
    /// then the name; what is added has the direction of the last explicit order. The last documents are sought as the first
    /// of the opposite order.
    ///
    /// - Parameter aggregatedFields: The fields of ``NormalizedAggregations``. They come into the order only where that
    ///   leaves the meaning of the cursors as it is.
    /// - Throws: ``StatusCode/invalidArgument`` with the place in the query's JSON form.
    package init(_ query: Query, aggregating aggregatedFields: [FieldPath] = []) throws(StatusError) {
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
    /// The same query for whole documents.
    package var withoutProjection: NormalizedQuery {
        var query = self
        query.projection = nil
        return query
    }

    /// A part of the result of a query that has no limit of its own.
    ///
    /// - Parameters:
    ///   - last: Where the document stands behind which it begins; nil for the beginning.
    ///   - limit: How many documents it has at most.
    package func page(after last: SortKey?, limit: Int) -> NormalizedQuery {
        var page = self
        if let last { page.start = Query.Cursor(last.values, isInclusive: false) }
        page.limit = limit
        return page
    }
}
