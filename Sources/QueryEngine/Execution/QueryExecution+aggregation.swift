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
                state.add(documents: try countWindow())
            } else {
                for document in try run() { state.add(try document.decoded().fields) }
            }
            return state.results
        }
        let add = { (document: EncodedDocument) throws(StatusError) -> Bool in
            let fields = try self.requiredFields(of: document)
            if self.query.match(fields, at: document.path) != nil { state.add(fields) }
            return !state.isComplete
        }
        try forEachChanged(add)
        guard !state.isComplete else { return state.results }
        if let scans = exactScans(aggregating: aggregations.fields) {
            try forEachUnreadable(add)
            guard !state.isComplete else { return state.results }
            let limit = aggregations.fields.isEmpty ? aggregations.countLimit : nil
            if aggregations.fields.isEmpty, let count = try indexedCount(scans, limit: limit) {
                state.add(documents: count)
                return state.results
            }
            if try aggregate(joining: scans, aggregations.fields, into: &state) { return state.results }
        }
        try forEachCandidate { name, disjunct throws(StatusError) in
            if let path = index.names.path(name), let (_, fields, _) = try readMatching(path, disjunct: disjunct) {
                state.add(fields)
            }
            return !state.isComplete
        }
        plan.append("Read each document and apply the filter")
        return state.results
    }

    /// Counts the documents of a query with an offset or a limit.
    private func countWindow() throws(StatusError) -> Int {
        if !hasChanges, try unreadablePaths().isEmpty, let scans = exactScans(aggregating: []),
            let count = try indexedCount(scans, limit: query.neededCount)
        {
            return max(0, min(count, query.neededCount ?? .max) - query.offset)
        }
        return try run().count
    }

    /// Returns, for each disjunct, the scans whose common documents are exactly those that match it; `nil` if documents must be
    /// read to decide that.
    ///
    /// - Parameter fields: The fields whose values must be among the scans.
    private func exactScans(aggregating fields: [FieldPath]) -> [[FieldScan]]? {
        guard query.start == nil, query.end == nil, disjuncts.allSatisfy(\.isExact),
            !query.requiredFields.contains(where: planner.policy.isExempt), query.orders.allSatisfy({ !$0.isByDistance })
        else { return nil }
        return disjuncts.map { disjunct in
            let scans = disjunct.scans.combiningValues
            let valued = Set(scans.map(\.index))
            let covered = scans.reduce(into: Set<FieldPath>()) { covered, scan in
                if case .elements = scan.index { return }
                covered.formUnion(scan.fields)
            }
            let needed = query.requiredFields.filter { field in
                !covered.contains(field) || fields.contains(field) && !valued.contains(.values(of: field))
            }
            return scans + needed.map { FieldScan(existing: $0) }
        }
    }

    /// Adds the documents that match one of several disjuncts to aggregations from index entries alone; `false` if reading the
    /// documents is cheaper.
    ///
    /// - Parameter scans: The scans whose common documents match each disjunct.
    private func aggregate(
        joining scans: [[FieldScan]],
        _ fields: [FieldPath],
        into state: inout AggregationState
    ) throws(StatusError) -> Bool {
        var joins: [IndexJoin] = []
        for (disjunct, scans) in zip(disjuncts, scans) {
            guard let join = try IndexJoin(scans, disjunct, aggregating: fields, index) else { return false }
            joins.append(join)
        }
        plan += joins.map(\.planText)
        let changedNames = changedNames
        let isChanged = { (name: UnsafeRawBufferPointer, hash: NameTable.Hash) in changedNames.index(of: name, hash) != nil }
        if joins.count == 1, let scan = joins[0].singleScan {
            let hasChanges = changedNames.count > 0
            var count = 0
            _ = try index.forEachEntry(scan, disjuncts[0].names) { entry in
                if hasChanges, isChanged(entry.name, NameTable.Hash(entry.name)) { return true }
                count += 1
                if !fields.isEmpty, let number = entry.number { state.add(number, ofField: 0) }
                return true
            }
            state.add(documents: count)
            return true
        }
        var partitions = [NameTable.Partition.all]
        while let partition = partitions.popLast() {
            var result = state
            if try aggregate(joins, in: partition, excluding: isChanged, into: &result) {
                state = result
            } else {
                partitions += partition.halves ?? []
            }
        }
        return true
    }

    /// Adds the documents of joins in a partition of all names, each once; `false` if they need too much memory.
    private func aggregate(
        _ joins: [IndexJoin],
        in partition: NameTable.Partition,
        excluding isChanged: (UnsafeRawBufferPointer, NameTable.Hash) -> Bool,
        into state: inout AggregationState
    ) throws(StatusError) -> Bool {
        var known = NameTable()
        for (number, join) in joins.enumerated() {
            let found = try join.run(in: partition, maximumBytes: maximumJoinBytes) { name, hash in
                isChanged(name, hash) || known.index(of: name, hash) != nil
            } add: { number, field in
                state.add(number, ofField: field)
            }
            guard let (table, steps) = found else { return false }
            var count = 0
            let isLast = number == joins.count - 1
            table.forEach(passed: steps) { name, hash in
                count += 1
                if !isLast { known.insert(name, hash) }
            }
            state.add(documents: count)
            guard known.byteCount <= maximumJoinBytes || partition.halves == nil else { return false }
        }
        return true
    }

    /// Counts the results in the index, up to `limit`, without naming them; `nil` if that is not possible or not worth it.
    ///
    /// - Parameter scans: The scans whose common documents match each disjunct.
    private func indexedCount(_ scans: [[FieldScan]], limit: Int?) throws(StatusError) -> Int? {
        guard changed.isEmpty, disjuncts.count == 1, let disjunct = disjuncts.first, let scans = scans.first else { return nil }
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

    /// Counts the documents in a range scan for which all point lookups succeed; `nil` if reading the documents of the point
    /// lookups is cheaper.
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
    /// The limit on counting if all aggregations are counts with a limit; otherwise `nil`.
    fileprivate var countLimit: Int? {
        var limit = 0
        for (_, operation) in operations {
            guard case .count(let upTo?) = operation else { return nil }
            limit = max(limit, upTo)
        }
        return limit
    }
}
