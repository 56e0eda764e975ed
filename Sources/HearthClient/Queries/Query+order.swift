internal import DocumentModel

extension Query {
    /// Documents in the order of a field, the least value first. Those without the field are not in the result.
    public func order(by field: String) -> Query {
        order(by: field, descending: false)
    }

    /// Documents in the order of a field, the least value first. Those without the field are not in the result.
    public func order(by path: FieldPath) -> Query {
        order(by: path, descending: false)
    }

    /// Documents in the order of a field. Those without the field are not in the result.
    public func order(by field: String, descending: Bool) -> Query {
        ordered(descending: descending) { () throws(StatusError) in .field(try FieldPath(dotted: field)) }
    }

    /// Documents in the order of a field. Those without the field are not in the result.
    public func order(by path: FieldPath, descending: Bool) -> Query {
        ordered(descending: descending) { .field(path) }
    }

    /// The first documents only. A limit has to be above 0.
    public func limit(to limit: Int) -> Query {
        limited(.first(limit), limit)
    }

    /// The last documents only, which still come in the query's order; there has to be one. A limit has to be above 0.
    public func limit(toLast limit: Int) -> Query {
        limited(.last(limit), limit)
    }

    func ordered(
        descending: Bool,
        by key: () throws(StatusError) -> DocumentModel.Query.Order.Key
    ) -> Query {
        changed { query throws(StatusError) in
            guard query.start == nil, query.end == nil else {
                throw StatusError(
                    .invalidArgument,
                    "Invalid query. You must not specify a starting or ending point before specifying the order by. "
                        + "Call order before start and end."
                )
            }
            query.orders.append(DocumentModel.Query.Order(try key(), descending ? .descending : .ascending))
        }
    }

    private func limited(_ limit: DocumentModel.Query.Limit, _ count: Int) -> Query {
        changed { query throws(StatusError) in
            guard count > 0 else {
                throw StatusError(.invalidArgument, "Invalid Query. Query limit (\(count)) is invalid. Limit must be positive.")
            }
            query.limit = limit
        }
    }
}
