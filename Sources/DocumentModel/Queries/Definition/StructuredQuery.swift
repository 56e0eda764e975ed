/// A query as a client defines it: Firestore's `StructuredQuery`, with geographic filters and orders.
///
/// It is not validated; ``NormalizedQuery`` validates it, adds the implied orders, and matches documents.
package struct StructuredQuery: Hashable, Sendable {
    /// The collections to query.
    package var source: Source
    /// The filter; `nil` matches all documents.
    package var filter: QueryFilter?
    /// The explicit orders; implied orders follow them.
    package var orders: [Order]
    /// The start cursor.
    package var start: Cursor?
    /// The end cursor.
    package var end: Cursor?
    /// The number of documents to skip, after the cursors and before the limit.
    package var offset: Int
    /// The maximum number of documents; `nil` for no limit.
    package var limit: Limit?
    /// The fields to return: empty for all, only ``FieldPath/documentName`` for none.
    package var projection: [FieldPath]
    /// The nearest-neighbor search over the result; `nil` for none.
    package var vectorSearch: VectorSearch?

    /// Creates a query.
    package init(
        _ source: Source,
        where filter: QueryFilter? = nil,
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

    /// A limit on the number of documents.
    package enum Limit: Hashable, Sendable {
        /// The first documents in the order.
        case first(Int)
        /// The last documents in the order, returned in that order.
        case last(Int)
    }
}

extension StructuredQuery {
    /// A cursor: a position in the order of a query, at which its result starts or ends.
    ///
    /// It has values for a prefix of the orders, including implied ones. They need not match a document. For the document
    /// name the value is a reference or a string: the ID in a collection, or the path relative to the parent in a collection
    /// group. For a distance it is a number of meters.
    package struct Cursor: Hashable, Sendable {
        /// The values, one for each order; at least one.
        package var values: [Value]
        /// True if documents at the position are included.
        package var isInclusive: Bool

        /// Creates a cursor.
        package init(_ values: [Value], isInclusive: Bool) {
            self.values = values
            self.isInclusive = isInclusive
        }
    }
}
