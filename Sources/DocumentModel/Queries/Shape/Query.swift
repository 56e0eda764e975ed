/// A question for documents, as a client states it: Firestore's structured query, and filters and orders by place.
///
/// Nothing is checked here; ``NormalizedQuery`` checks it, fills in what the rules imply, and answers for documents.
package struct Query: Hashable, Sendable {
    /// Where the documents are.
    package var source: Source
    /// What they must fulfil; nothing when nil.
    package var filter: Filter?
    /// In which order they come, before what the rules add.
    package var orders: [Order]
    /// Where the result begins in that order.
    package var start: Cursor?
    /// Where the result ends in that order.
    package var end: Cursor?
    /// How many documents are passed over, after the cursors and before the limit.
    package var offset: Int
    /// How many documents there may be; all when nil.
    package var limit: Limit?
    /// The fields that are wanted: all when empty, the path alone with just ``FieldPath/documentName``.
    package var projection: [FieldPath]
    /// Which of the documents come closest to a vector, and in that order; nil for no such search.
    package var vectorSearch: VectorSearch?

    /// Makes a query; what is left out asks for nothing.
    package init(
        _ source: Source,
        where filter: Filter? = nil,
        orders: [Order] = [],
        start: Cursor? = nil,
        end: Cursor? = nil,
        offset: Int = 0,
        limit: Limit? = nil,
        projection: [FieldPath] = [],
        vectorSearch: VectorSearch? = nil
    ) {
        self.source = source
        self.filter = filter
        self.orders = orders
        self.start = start
        self.end = end
        self.offset = offset
        self.limit = limit
        self.projection = projection
        self.vectorSearch = vectorSearch
    }

    /// How many documents there may be.
    package enum Limit: Hashable, Sendable {
        /// That many from the beginning of the order.
        case first(Int)
        /// That many from its end, which still come in the order asked for.
        case last(Int)
    }
}
