package import DocumentModel

extension QueryExecution {
    /// Computes aggregations over the documents of the query.
    ///
    /// Documents are read only when the index entries don't suffice.
    package func aggregate(_ aggregations: NormalizedAggregations) throws(StatusError) -> MapValue {
        var state = AggregationState(aggregations)
        guard query.limit != 0, !disjuncts.isEmpty else { return state.results }
        guard query.limit == nil, query.offset == 0 else {
            if aggregations.fields.isEmpty {
                state.add(documents: try run().count)
            } else {
                for document in try run() { state.add(try document.decoded().fields) }
            }
            return state.results
        }
        let countLimit = aggregations.fields.isEmpty ? aggregations.countLimit : nil
        if aggregations.fields.isEmpty, let count = try indexedCount(limit: countLimit) {
            state.add(documents: count)
            return state.results
        }
        try forEachChanged { document throws(StatusError) in
            let fields = try requiredFields(of: document)
            if query.match(fields, at: document.path) != nil { state.add(fields) }
            return !state.isComplete
        }
        guard !state.isComplete else { return state.results }
        try forEachCandidate { path, disjunct throws(StatusError) in
            if let (_, fields, _) = try readMatching(path, disjunct: disjunct) { state.add(fields) }
            return !state.isComplete
        }
        return state.results
    }

    /// Counts the results in the index alone, up to `limit`; nil if documents must be read.
    private func indexedCount(limit: Int?) throws(StatusError) -> Int? {
        guard let disjunct = disjuncts.first, disjuncts.count == 1, disjunct.isExact, !hasChanges,
            query.start == nil, query.end == nil, !query.requiredFields.contains(where: planner.policy.isExempt),
            query.orders.allSatisfy({ !$0.isByDistance })
        else { return nil }
        let covered = disjunct.scans.reduce(into: Set<FieldPath>()) { covered, scan in
            if case .elements = scan.index { return }
            covered.formUnion(scan.fields)
        }
        let uncovered = query.requiredFields.filter { !covered.contains($0) }
        let scans = disjunct.scans + uncovered.map { FieldScan(existing: $0) }
        switch scans.count {
        case 0:
            plan.append("Count all documents in the index")
            let count = try index.snapshot.count(index.scan(disjunct.names), limit: limit)
            index.entriesScanned += count
            return count
        case 1 where scans[0].isDistinct:
            plan.append("Count index entries: \(scans[0].text)")
            return try index.count(scans[0], disjunct.names, limit: limit)
        default:
            let rangeScans = scans.filter { !$0.isPointLookup }
            if rangeScans.isEmpty { return try countIntersection(scans, disjunct, limit: limit) }
            guard rangeScans.count == 1, disjunct.pointLookups.allSatisfy(\.isCoveredByProbes) else {
                return nil
            }
            return try countWithProbes(rangeScans[0], disjunct, limit: limit)
        }
    }

    /// Counts the documents in the intersection of point lookups.
    private func countIntersection(
        _ scans: [FieldScan],
        _ disjunct: FilterDisjunct,
        limit: Int?
    ) throws(StatusError) -> Int {
        plan.append("Count the zig-zag merge join of index scans: \(scans.planText)")
        let iterator = try index.nameIterator(scans, disjunct.names, isDescending: false)
        var count = 0
        while iterator.current != nil, count < limit ?? .max {
            count += 1
            try index.snapshot.checkCancellation()
            try iterator.advance()
        }
        return count
    }

    /// Counts the documents in a range scan for which all point lookups succeed; nil if reading the documents of the point lookups
    /// is cheaper.
    private func countWithProbes(
        _ scan: FieldScan,
        _ disjunct: FilterDisjunct,
        limit: Int?
    ) throws(StatusError) -> Int? {
        let paths = [AccessPath.intersection(disjunct.pointLookups)]
        let candidates = try index.cheapest(paths, disjunct, limit: .max)?.count ?? .max
        // A probe costs a fifth as much as reading a document.
        let bound = candidates.multipliedReportingOverflow(by: 5)
        if !bound.overflow, try index.count(scan, disjunct.names, limit: bound.partialValue + 1) > bound.partialValue {
            return nil
        }
        plan.append("Count index entries: \(scan.text)" + disjunct.pointLookups.probeText)
        var count = 0
        try index.forEach(.scan(scan), disjunct) { _ in
            count += 1
            return count < limit ?? .max
        }
        return count
    }
}

extension NormalizedAggregations {
    /// The limit of counting when all aggregations are counts with a limit; otherwise nil.
    fileprivate var countLimit: Int? {
        var limit = 0
        for (_, operation) in operations {
            guard case .count(let upTo?) = operation else { return nil }
            limit = max(limit, upTo)
        }
        return limit
    }
}

extension StructuredQuery.Order {
    fileprivate var isByDistance: Bool {
        if case .distance = key { true } else { false }
    }
}
