internal import DocumentModel

extension Query {
    /// Starts at the documents with these values for the leading sort fields, inclusive.
    public func start(at values: [Any]) -> Query {
        starting(isInclusive: true, values)
    }

    /// Starts after the documents with these values for the leading sort fields.
    public func start(after values: [Any]) -> Query {
        starting(isInclusive: false, values)
    }

    /// Ends before the documents with these values for the leading sort fields.
    public func end(before values: [Any]) -> Query {
        ending(isInclusive: false, values)
    }

    /// Ends at the documents with these values for the leading sort fields, inclusive.
    public func end(at values: [Any]) -> Query {
        ending(isInclusive: true, values)
    }

    private func starting(isInclusive: Bool, _ values: [Any]) -> Query {
        changed { query throws(StatusError) in query.start = try cursor(at: values, isInclusive: isInclusive, in: query) }
    }

    private func ending(isInclusive: Bool, _ values: [Any]) -> Query {
        changed { query throws(StatusError) in query.end = try cursor(at: values, isInclusive: isInclusive, in: query) }
    }

    /// Returns the cursor for values of the leading sort fields.
    private func cursor(
        at values: [Any],
        isInclusive: Bool,
        in query: StructuredQuery
    ) throws(StatusError) -> StructuredQuery.Cursor {
        guard values.count <= query.orders.count else {
            throw StatusError(
                .invalidArgument,
                "Invalid query. You are trying to start or end a query using more values than were specified in the order by: "
                    + "\(values.count) instead of at most \(query.orders.count)."
            )
        }
        var reader = UserDataReader(allowsSentinels: false)
        let cursor = StructuredQuery.Cursor(try reader.operands(values), isInclusive: isInclusive)
        try firestore.checkReferences(to: reader.databases)
        return cursor
    }
}

extension Query {
    /// Starts at a document, inclusive. The document must exist and have the fields that the query sorts by.
    public func start(atDocument document: DocumentSnapshot) -> Query {
        changed { query throws(StatusError) in query.start = try cursor(at: document, isInclusive: true, in: &query) }
    }

    /// Starts after a document, which must exist and have the fields that the query sorts by.
    public func start(afterDocument document: DocumentSnapshot) -> Query {
        changed { query throws(StatusError) in query.start = try cursor(at: document, isInclusive: false, in: &query) }
    }

    /// Ends before a document, which must exist and have the fields that the query sorts by.
    public func end(beforeDocument document: DocumentSnapshot) -> Query {
        changed { query throws(StatusError) in query.end = try cursor(at: document, isInclusive: false, in: &query) }
    }

    /// Ends at a document, inclusive. The document must exist and have the fields that the query sorts by.
    public func end(atDocument document: DocumentSnapshot) -> Query {
        changed { query throws(StatusError) in query.end = try cursor(at: document, isInclusive: true, in: &query) }
    }

    /// Returns the cursor of a document, and makes the query's implicit sort order explicit, so that later additions to the query
    /// don't change it.
    private func cursor(
        at snapshot: DocumentSnapshot,
        isInclusive: Bool,
        in query: inout StructuredQuery
    ) throws(StatusError) -> StructuredQuery.Cursor {
        guard let document = snapshot.document else {
            throw StatusError(
                .invalidArgument,
                "Invalid query. You are trying to start or end a query using a document that doesn't exist.",
                path: snapshot.reference.path
            )
        }
        try firestore.checkReferences(to: [snapshot.reference.firestore])
        // Without the limit, which can reverse the order, and the cursors, which depend on it.
        let order = try NormalizedQuery(StructuredQuery(query.source, where: query.filter, orders: query.orders))
        for order in order.orders where snapshot.pendingTimestamps[order.key.field] != nil {
            throw StatusError(
                .invalidArgument,
                "Invalid query. You are trying to start or end a query using a document whose server timestamp is not known yet. Wait until "
                    + "the server has set it.",
                path: snapshot.reference.path,
                field: order.key.field.description
            )
        }
        guard let key = order.sortKey(of: document.fields, at: document.path) else {
            let field = order.orders.first { !$0.key.field.isDocumentName && document.fields[$0.key.field] == nil }?.key.field
            throw StatusError(
                .invalidArgument,
                "Invalid query. You are trying to start or end a query using a document that doesn't have the fields "
                    + "that the query sorts by.",
                path: document.path.string,
                field: field?.description
            )
        }
        query.orders = order.orders
        return StructuredQuery.Cursor(key.values, isInclusive: isInclusive)
    }
}
