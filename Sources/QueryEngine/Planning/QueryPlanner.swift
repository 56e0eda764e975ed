internal import DocumentModel
internal import UTF8Text

/// The strategy for executing a query.
enum QueryPlan {
    /// Finds all candidates and sorts them.
    case sort
    /// Compares the vectors in the index, for a vector search.
    case vectorScan(VectorScan)
    /// Expands the radius around a point, for a query that is ordered by distance.
    case geoNearestNeighbor(GeoNearestNeighborScan)
    /// Reads candidates in name order, from point lookups, for a query in that order.
    ///
    /// - `isExact`: Whether all candidates match.
    case mergeJoin(any SortedNameIterator, paths: [AccessPath], isExact: Bool)
    /// Scans an index in the order of the query.
    ///
    /// - `reconsideringAt`: The cost after which the execution reconsiders ``sort``; `nil` for never.
    case orderedScan(OrderedIndexScan, reconsideringAt: Int?)
}

/// Selects the plan for a query by counting index entries, no further than needed for the comparison.
///
/// The cheaper of an ordered scan and a sort is often unknown in advance. In that case the plan is an ordered scan with a cost
/// limit: when it exceeds the cost of sorting, which is estimated repeatedly up to that limit, the execution switches. So the
/// total cost is never much higher than that of the cheaper plan.
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
        if query.isExhaustiveVectorSearch { return try VectorScan(self).map { .vectorScan($0) } ?? .sort }
        if query.limit != nil, let scan = GeoNearestNeighborScan(query, disjuncts, policy) { return .geoNearestNeighbor(scan) }
        guard let scan = orderedScan else { return .sort }
        if scan.field == nil, let plan = try mergeJoin(scan) { return plan }
        guard let needed = query.neededCount else {
            return try isOrderedScanCheaper(scan) ? .orderedScan(scan, reconsideringAt: nil) : .sort
        }
        guard hasAlternativePlan(to: scan) else { return .orderedScan(scan, reconsideringAt: nil) }
        // The documents before the offset need not be read.
        let readCount = min(covers(scan) ? needed - query.offset : needed, 1 << 32)
        if try candidateCount(limit: 2 * readCount + 8) != nil { return .sort }
        return .orderedScan(scan, reconsideringAt: max(2_000, readCount * 4 * Cost.document))
    }

    /// Returns whether the rows of an ordered scan that pass index probes are the documents that match the query, in its order,
    /// except that rows with truncated values need not be.
    func covers(_ scan: OrderedIndexScan) -> Bool {
        guard disjuncts.count == 1, !scan.mustSortEqualValues, scan.isExact, scan.coversCursors else { return false }
        let scans = disjuncts[0].scans.combiningValues
        return disjuncts[0].isExact && scans.allSatisfy(scan.covers) && coversRequiredFields(scans, scan.fields)
    }

    /// Returns whether the names in a merge join in the order of a scan are those of the documents that match the query.
    func coversMergeJoin(_ scan: OrderedIndexScan) -> Bool {
        scan.coversCursors
            && disjuncts.allSatisfy { disjunct in
                disjunct.isExact && disjunct.scans.allSatisfy(\.isPointLookup) && coversRequiredFields(disjunct.scans, [])
            }
    }

    /// Returns whether every document in some scans has the fields that the query requires.
    func coversRequiredFields(_ scans: [FieldScan], _ covered: Set<FieldPath>) -> Bool {
        let covered = scans.reduce(into: covered) { covered, scan in
            if case .elements = scan.index { return }
            covered.formUnion(scan.fields)
        }
        return covered.isSuperset(of: query.requiredFields)
    }

    /// The scans that contain every document of the result, regardless of the filter.
    var impliedScans: [FieldScan] {
        if query.isExhaustiveVectorSearch, let search = query.vectorSearch, !policy.isExempt(search.field) {
            return [FieldScan(existing: search.field, in: .bracket(.vector))]
        }
        for order in query.orders where !policy.isExempt(order.key.field) {
            if case .distance(let field, _) = order.key { return [FieldScan(existing: field, in: .bracket(.geoPoint))] }
        }
        return query.requiredFields.filter { !policy.isExempt($0) }.map { FieldScan(existing: $0) }
    }

    /// Returns an upper bound on the number of documents that a sort would read; `nil` if there are `limit` or more.
    ///
    /// - Parameter isUsable: Whether to use an access path of a disjunct.
    func candidateCount(
        limit: Int,
        using isUsable: (AccessPath, FilterDisjunct) -> Bool = { _, _ in true }
    ) throws(StatusError) -> Int? {
        var sum = 0
        for disjunct in disjuncts {
            let paths = disjunct.accessPaths(implied: impliedScans).filter { isUsable($0, disjunct) }
            guard let best = try index.cheapest(paths, disjunct, limit: limit - sum) else { return nil }
            sum += best.count
            if sum >= limit { return nil }
        }
        return sum
    }
}

extension QueryPlanner {
    private var orderedScan: OrderedIndexScan? { OrderedIndexScan(query, disjuncts, index.names, policy) }

    /// Returns the merge join for a query in name order; `nil` if a disjunct has neither point lookups nor a list of documents.
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
        return .mergeJoin(iterator, paths: disjuncts.map { $0.accessPaths(implied: [])[0] }, isExact: coversMergeJoin(scan))
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

    /// Checks that each field of the query is indexed, on its own or in a composite index that the query can use.
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
                "The query requires an index on the field \(field), which is exempted from indexing in collections with the ID "
                    + "\(Excerpt(collection.key.string)). Remove the exemption with indexes.unexempt, or create a composite index on the "
                    + "fields in the query's equality filters and sort orders with indexes.create.",
                field: field.description
            )
        }
    }
}
