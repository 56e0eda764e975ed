internal import DocumentModel
internal import UTF8Text

/// The strategy of executing a query.
enum QueryPlan {
    /// Finds all candidates and sorts them.
    case sort
    /// Expands the radius around a point, for a query that is ordered by distance.
    case geoNearestNeighbor(GeoNearestNeighborScan)
    /// Reads candidates in name order, from point lookups, for a query in this order.
    case mergeJoin(any SortedNameIterator, paths: [AccessPath])
    /// Scans an index in the order of the query.
    ///
    /// - `reconsideringAt`: The cost after which the execution reconsiders ``sort``; nil for never.
    case orderedScan(OrderedIndexScan, reconsideringAt: Int?)
}

/// Selects the plan of a query by counting index entries, up to small limits.
///
/// Which of an ordered scan and a sort is cheaper is often unknown in advance. Then the plan is an ordered scan with a cost limit:
/// when it exceeds the cost of sorting, which is estimated repeatedly up to that limit, the execution switches. So the total cost
/// is never much more than that of the cheaper plan.
struct QueryPlanner {
    /// Relative costs; reading an index entry costs 1.
    enum Cost {
        static let document = 10
    }

    let query: NormalizedQuery
    let disjuncts: [FilterDisjunct]
    /// The composite indexes and exemptions.
    let policy: IndexingPolicy
    let index: MeteredIndexReader

    init(_ query: NormalizedQuery, _ index: MeteredIndexReader) throws(StatusError) {
        self.query = query
        self.index = index
        let policy = try index.snapshot.policy(of: index.names.collection)
        self.policy = policy
        disjuncts = query.filter.disjuncts.map { FilterDisjunct($0, of: query, index.names, policy) }
        try checkExemptions()
    }

    /// Selects a plan.
    func plan() throws(StatusError) -> QueryPlan {
        if query.isExhaustiveVectorSearch { return .sort }
        if query.limit != nil, let scan = GeoNearestNeighborScan(query, disjuncts, policy) { return .geoNearestNeighbor(scan) }
        guard let scan = orderedScan else { return .sort }
        if scan.field == nil, let plan = try mergeJoin(scan) { return plan }
        guard let needed = query.neededCount else {
            return try isOrderedScanCheaper(scan) ? .orderedScan(scan, reconsideringAt: nil) : .sort
        }
        guard hasAlternativePlan(to: scan) else { return .orderedScan(scan, reconsideringAt: nil) }
        if try candidateCount(limit: 2 * min(needed, 1 << 32) + 8) != nil { return .sort }
        return .orderedScan(scan, reconsideringAt: max(2_000, min(needed, 1 << 32) * 4 * Cost.document))
    }

    /// The scans that contain every document of the result, whatever the filter.
    var impliedScans: [FieldScan] {
        if query.isExhaustiveVectorSearch, let search = query.vectorSearch, !policy.isExempt(search.field) {
            return [FieldScan(existing: search.field, in: .bracket(.vector))]
        }
        for order in query.orders where !policy.isExempt(order.key.field) {
            if case .distance(let field, _) = order.key { return [FieldScan(existing: field, in: .bracket(.geoPoint))] }
        }
        return query.requiredFields.filter { !policy.isExempt($0) }.map { FieldScan(existing: $0) }
    }

    /// Returns an upper bound of the documents that a sort would read; nil if there are `limit` or more.
    func candidateCount(limit: Int) throws(StatusError) -> Int? {
        var sum = 0
        for disjunct in disjuncts {
            let paths = disjunct.accessPaths(implied: impliedScans)
            guard let best = try index.cheapest(paths, disjunct, limit: limit - sum) else { return nil }
            sum += best.count
            if sum >= limit { return nil }
        }
        return sum
    }
}

extension QueryPlanner {
    private var orderedScan: OrderedIndexScan? { OrderedIndexScan(query, disjuncts, index.names, policy) }

    /// Returns the merge join for a query in name order; nil if a disjunct has neither point lookups nor a list of documents.
    private func mergeJoin(_ scan: OrderedIndexScan) throws(StatusError) -> QueryPlan? {
        guard disjuncts.allSatisfy({ $0.documents != nil || !$0.pointLookups.isEmpty }) else { return nil }
        var iterators: [any SortedNameIterator] = []
        for disjunct in disjuncts {
            if let paths = disjunct.documents {
                iterators.append(ListNameIterator(paths.map { index.names.name(of: $0) }, isDescending: scan.isDescending))
            } else {
                let names = disjunct.names.clamped(to: scan.names)
                iterators.append(try index.nameIterator(disjunct.pointLookups, names, isDescending: scan.isDescending))
            }
        }
        let iterator = iterators.count == 1 ? iterators[0] : NameUnionIterator(iterators, isDescending: scan.isDescending)
        return .mergeJoin(iterator, paths: disjuncts.map { $0.accessPaths(implied: [])[0] })
    }

    /// Returns whether each disjunct has an access path that an ordered scan does not cover.
    private func hasAlternativePlan(to orderedScan: OrderedIndexScan) -> Bool {
        disjuncts.allSatisfy { disjunct in
            disjunct.accessPaths(implied: []).contains { path in
                switch path {
                case .fullScan: false
                case .scan(let scan): !scan.fields.isSubset(of: orderedScan.fields)
                case .intersection(let scans): scans.contains { !$0.fields.isSubset(of: orderedScan.fields) }
                case .lookup, .geoScan: true
                }
            }
        }
    }

    /// Returns whether an ordered scan to the end reads fewer documents than a sort.
    private func isOrderedScanCheaper(_ orderedScan: OrderedIndexScan) throws(StatusError) -> Bool {
        guard hasAlternativePlan(to: orderedScan) else { return true }
        var bound = 128
        while true {
            if try candidateCount(limit: bound) != nil { return false }
            var count = 0
            for scan in orderedScan.scans(index.names.target) where count < bound {
                count += try index.snapshot.count(scan, limit: bound - count)
            }
            index.entriesScanned += count
            if count < bound { return true }
            bound *= 8
        }
    }

    /// Checks that each field of the query is indexed, by itself or in a composite index that the query can use.
    ///
    /// - Throws: `.failedPrecondition` with the exempted field.
    private func checkExemptions() throws(StatusError) {
        guard !policy.exempt.isEmpty, let collection = index.names.collection else { return }
        let orderedFields = orderedScan.map { $0.isComposite ? $0.fields : [] } ?? []
        let required = Set(query.requiredFields).union(query.vectorSearch.map { [$0.field] } ?? [])
        for disjunct in disjuncts {
            let covered = orderedFields.union(disjunct.compositeFilterFields)
            let needed = disjunct.fields.union(required).subtracting(covered)
            guard let field = needed.filter(policy.isExempt).min() else { continue }
            throw StatusError(
                .failedPrecondition,
                "The query requires an index of the field \(field), which is exempted from indexing in collections with the ID "
                    + "\(Excerpt(collection.key.string)). Remove the exemption with indexes.unexempt, or create a composite index of the "
                    + "fields in the query's equality filters and orders with indexes.create."
            )
        }
    }
}
