package import DocumentModel

/// A query that listeners share a view of.
package struct ViewQuery: Sendable {
    /// The target that the server keeps up to date for the view.
    package let target: SyncTarget
    /// The query for matching and sorting. Its orders are those of the target.
    let normalized: NormalizedQuery

    /// Creates the query of a document.
    package init(document path: DocumentPath) throws(StatusError) {
        target = .document(path)
        normalized = try NormalizedQuery(
            StructuredQuery(.collection(path.collection), where: .field(.documentName, .equal(.reference(path))))
        )
    }

    /// Creates the view of a query.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the query is invalid, or if it has a projection or a nearest-neighbor search,
    ///   which only the server can answer.
    package init(_ query: StructuredQuery) throws(StatusError) {
        normalized = try NormalizedQuery(query)
        guard normalized.returnsWholeDocuments, query.vectorSearch == nil else {
            throw StatusError(
                .invalidArgument,
                "A query with a projection or a nearest-neighbor search has no local view. Read it from the server."
            )
        }
        target = SyncTarget(query)
    }

    /// True if documents are shown in reverse order of the target.
    var isReversed: Bool { normalized.isReversed }

    /// The maximum number of documents in the target; `nil` for no limit.
    var targetLimit: Int? { normalized.limit.map { normalized.offset.addingSaturated($0) } }

    /// True if the query returns all documents of its source, so that there is no better plan than to scan them.
    var matchesAllDocuments: Bool {
        guard case .query = target, normalized.limit == nil, normalized.start == nil, normalized.end == nil else { return false }
        return normalized.filter.disjuncts.contains(where: \.isEmpty) && normalized.orders.count == 1
    }
}

extension ViewQuery: Hashable {
    /// Returns whether listeners to both can share a view.
    package static func == (left: ViewQuery, right: ViewQuery) -> Bool {
        left.target == right.target && left.isReversed == right.isReversed && left.normalized.offset == right.normalized.offset
    }

    /// Hashes the target.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(target)
        hasher.combine(isReversed)
        hasher.combine(normalized.offset)
    }
}

extension ViewQuery {
    /// Returns the sort key of a document, or `nil` if it is not in the result.
    ///
    /// No filter matches a pending timestamp but an inequality to other values.
    func match(_ document: LocalDocument) -> ViewSortKey? {
        guard target.covers(document.path) else { return nil }
        guard !document.pendingTimestamps.isEmpty else {
            return normalized.match(document.fields, at: document.path).map { ViewSortKey($0) }
        }
        let fields = document.fieldsWithLatestTimestamps
        let matches = normalized.filter.disjuncts.contains { predicates in
            predicates.allSatisfy { predicate in
                guard document.pendingTimestamps[predicate.field] != nil else {
                    return predicate.matches(fields, at: document.path)
                }
                if case .differs = predicate.test { return true }
                return false
            }
        }
        guard matches, let key = normalized.sortKey(of: fields, at: document.path), normalized.isBetweenCursors(key) else {
            return nil
        }
        let estimates = normalized.orders.map { document.pendingTimestamps[$0.key.field]?.estimate }
        return ViewSortKey(key, estimates: estimates)
    }

    /// Returns whether a sort key precedes another in the order of the target.
    func precedes(_ left: ViewSortKey, _ right: ViewSortKey) -> Bool {
        guard left.estimates != nil || right.estimates != nil else {
            return normalized.compare(left.key, right.key) == .less
        }
        for (index, order) in normalized.orders.enumerated() {
            let comparison = left.compared(to: right, at: index)
            if comparison != .equal { return (comparison == .less) == (order.direction == .ascending) }
        }
        return false
    }
}

/// The sort key of a document in a view.
struct ViewSortKey {
    /// The sort key, with the latest timestamp for each pending one.
    let key: NormalizedQuery.SortKey
    /// The local times of pending timestamps by the index of the order; `nil` if there are none.
    let estimates: [Timestamp?]?

    init(_ key: NormalizedQuery.SortKey, estimates: [Timestamp?] = []) {
        self.key = key
        self.estimates = estimates.contains { $0 != nil } ? estimates : nil
    }

    /// Compares the values of an order. A pending timestamp sorts after all timestamps, and among its like by the local time.
    fileprivate func compared(to other: ViewSortKey, at index: Int) -> Comparison {
        let comparison = key.values[index].comparedInQueries(to: other.key.values[index])
        guard comparison == .equal else { return comparison }
        return switch (estimates?[index], other.estimates?[index]) {
        case (nil, nil): .equal
        case (nil, _?): .less
        case (_?, nil): .greater
        case (let left?, let right?): left < right ? .less : left == right ? .equal : .greater
        }
    }
}

extension LocalDocument {
    /// The fields with the latest timestamp for each pending one.
    fileprivate var fieldsWithLatestTimestamps: MapValue {
        var fields = fields
        for field in pendingTimestamps.keys { fields.set(.timestamp(.maximum), at: field) }
        return fields
    }
}
