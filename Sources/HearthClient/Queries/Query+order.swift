internal import DocumentModel

extension Query {
    /// Sorts by a field in ascending order. Documents without the field are excluded.
    public func order(by field: String) -> Query {
        order(by: field, descending: false)
    }

    /// Sorts by a field in ascending order. Documents without the field are excluded.
    public func order(by path: FieldPath) -> Query {
        order(by: path, descending: false)
    }

    /// Sorts by a field. Documents without the field are excluded.
    public func order(by field: String, descending: Bool) -> Query {
        ordered(descending: descending) { () throws(StatusError) in .field(try FieldPath(dotted: field)) }
    }

    /// Sorts by a field. Documents without the field are excluded.
    public func order(by path: FieldPath, descending: Bool) -> Query {
        ordered(descending: descending) { .field(path) }
    }

    /// Limits the result to the first documents. The limit must be positive.
    public func limit(to limit: Int) -> Query {
        limited(.first(limit), limit)
    }

    /// Limits the result to the last documents, in the query's order. Requires a sort order. The limit must be positive.
    public func limit(toLast limit: Int) -> Query {
        limited(.last(limit), limit)
    }

    func ordered(
        descending: Bool,
        by key: () throws(StatusError) -> StructuredQuery.Order.Key
    ) -> Query {
        changed { query throws(StatusError) in
            guard query.start == nil, query.end == nil else {
                throw StatusError(
                    .invalidArgument,
                    "Invalid query. You must not specify a starting or ending point before specifying the order by. "
                        + "Call order before start and end."
                )
            }
            query.orders.append(StructuredQuery.Order(try key(), descending ? .descending : .ascending))
        }
    }

    private func limited(_ limit: StructuredQuery.Limit, _ count: Int) -> Query {
        changed { query throws(StatusError) in
            guard count > 0 else {
                throw StatusError(.invalidArgument, "Invalid Query. Query limit (\(count)) is invalid. Limit must be positive.")
            }
            query.limit = limit
        }
    }
}
