internal import DocumentModel

extension Query {
    /// Begins with the documents at these values for the first of the orders.
    public func start(at values: [Any]) -> Query {
        starting(isInclusive: true, values)
    }

    /// Begins after the documents at these values for the first of the orders.
    public func start(after values: [Any]) -> Query {
        starting(isInclusive: false, values)
    }

    /// Ends before the documents at these values for the first of the orders.
    public func end(before values: [Any]) -> Query {
        ending(isInclusive: false, values)
    }

    /// Ends with the documents at these values for the first of the orders.
    public func end(at values: [Any]) -> Query {
        ending(isInclusive: true, values)
    }

    private func starting(isInclusive: Bool, _ values: [Any]) -> Query {
        changed { query throws(StatusError) in query.start = try cursor(at: values, isInclusive: isInclusive, in: query) }
    }

    private func ending(isInclusive: Bool, _ values: [Any]) -> Query {
        changed { query throws(StatusError) in query.end = try cursor(at: values, isInclusive: isInclusive, in: query) }
    }

    /// The place of values as users write them, one for each of the first of the orders that the query was given.
    private func cursor(
        at values: [Any],
        isInclusive: Bool,
        in query: DocumentModel.Query
    ) throws(StatusError) -> DocumentModel.Query.Cursor {
        guard values.count <= query.orders.count else {
            throw StatusError(
                .invalidArgument,
                "Invalid query. You are trying to start or end a query using more values than were specified in the order by: "
                    + "\(values.count) instead of at most \(query.orders.count)."
            )
        }
        var reader = DictionaryReader(permitsSentinels: false)
        let cursor = DocumentModel.Query.Cursor(try reader.operands(values), isInclusive: isInclusive)
        try firestore.check(reader.origins)
        return cursor
    }
}

extension Query {
    /// Begins with a document, which has to exist and to have what the query sorts by.
    public func start(atDocument document: DocumentSnapshot) -> Query {
        changed { query throws(StatusError) in query.start = try cursor(at: document, isInclusive: true, in: &query) }
    }

    /// Begins after a document, which has to exist and to have what the query sorts by.
    public func start(afterDocument document: DocumentSnapshot) -> Query {
        changed { query throws(StatusError) in query.start = try cursor(at: document, isInclusive: false, in: &query) }
    }

    /// Ends before a document, which has to exist and to have what the query sorts by.
    public func end(beforeDocument document: DocumentSnapshot) -> Query {
        changed { query throws(StatusError) in query.end = try cursor(at: document, isInclusive: false, in: &query) }
    }

    /// Ends with a document, which has to exist and to have what the query sorts by.
    public func end(atDocument document: DocumentSnapshot) -> Query {
        changed { query throws(StatusError) in query.end = try cursor(at: document, isInclusive: true, in: &query) }
    }

    /// The place of a document in a query's order, which becomes explicit: what is added to the query later must not move it.
    private func cursor(
        at snapshot: DocumentSnapshot,
        isInclusive: Bool,
        in query: inout DocumentModel.Query
    ) throws(StatusError) -> DocumentModel.Query.Cursor {
        guard let document = snapshot.document else {
            throw StatusError(
                .invalidArgument,
                "Invalid query. You are trying to start or end a query using a document that doesn't exist.",
                path: snapshot.reference.path
            )
        }
        try firestore.check([snapshot.reference.firestore])
        // Without what turns the order round, or depends on it.
        let order = try NormalizedQuery(DocumentModel.Query(query.source, where: query.filter, orders: query.orders))
        guard let key = order.sortKey(of: document.fields, at: document.path) else {
            let field = order.orders.first { !$0.key.field.isDocumentName && document.fields[$0.key.field] == nil }?.key.field
            throw StatusError(
                .invalidArgument,
                "Invalid query. You are trying to start or end a query using a document that doesn't have what the query "
                    + "sorts by. Choose another document, or another order.",
                path: document.path.string,
                field: field?.description
            )
        }
        query.orders = order.orders
        return DocumentModel.Query.Cursor(key.values, isInclusive: isInclusive)
    }
}
