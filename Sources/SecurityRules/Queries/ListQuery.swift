package import DocumentModel
internal import UTF8Text

/// A query as rules see it.
package struct ListQuery: Sendable {
    /// The query, with its implied orders.
    package let query: NormalizedQuery
    /// The orders that `request.query.orderBy` has.
    package let orders: [StructuredQuery.Order]

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - query: The query. Of an aggregation, the query with the aggregated fields.
    ///   - orders: The orders that `request.query.orderBy` has: those of the client, and those that its inequality filters imply.
    package init(_ query: NormalizedQuery, orders: [StructuredQuery.Order] = []) {
        self.query = query
        self.orders = orders
    }

    /// Creates a query from its definition.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the query is invalid.
    package init(_ query: StructuredQuery) throws(StatusError) {
        self.init(try NormalizedQuery(query), orders: query.orders)
    }

    /// The `request.query` of the language. Without a limit its `limit` is null, so that a comparison is an error.
    var request: RuleValue {
        var members: [(key: UTF8Key, value: RuleValue)] = [
            ("offset", .integer(Int64(query.offset))),
            ("limit", query.limit.map { .integer(Int64($0)) } ?? .null),
        ]
        let orders = orders.map { order -> (key: UTF8Key, value: RuleValue) in
            (UTF8Key(order.key.field.description), .string(order.direction == .ascending ? "ASC" : "DESC"))
        }
        members.append(("orderBy", .map(RuleMap(orders))))
        return .map(RuleMap(members))
    }

    /// The path of all documents that the query may find.
    func path(in database: UTF8Key) -> RequestPath {
        let root = RulePath.root(of: database)
        switch query.source {
        case .collection(let collection):
            return RequestPath(root + collection.segments + [nil])
        case .collectionGroup(let id, let parent):
            let head = root + (parent?.segments ?? [])
            return RequestPath(head + [id.key, nil], gap: head.count)
        case .descendants(let parent):
            let head = root + (parent?.segments ?? [])
            return RequestPath(head + [nil, nil], gap: head.count)
        }
    }
}
