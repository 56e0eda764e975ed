internal import DocumentModel

extension QueryExecution {
    /// Executes a vector scan, and reads the documents that may be among the nearest.
    ///
    /// The bounds of the distances apply to the documents as the index knows them. When so many documents turn out to differ, or
    /// to be unreadable, that a skipped one could be in the result, the scan is repeated with more candidates, and finally all
    /// documents are read.
    func run(_ scan: VectorScan) throws(StatusError) {
        try forEachUnreadable { document throws(StatusError) in
            if let match = try evaluate(document) { try collector.add(match) }
            return true
        }
        let initialCollector = collector
        let changedNames = changedNames
        let initialPlan = plan
        for factor in [2, 32] {
            (plan, collector) = (initialPlan, initialCollector)
            if try collect(scan, candidates: factor * (scan.limit + 8), excluding: changedNames) {
                plan.append("Read the documents that may be among the nearest \(scan.limit), and sort them by distance")
                return try collector.finishGroup()
            }
        }
        (plan, collector) = (initialPlan, initialCollector)
        plan.append("Switch plan: many documents differ from the index")
        try sort()
    }

    /// Collects the nearest documents; `false` if documents that were not read could be among them.
    ///
    /// - Parameter limit: The number of documents that sort before each vector that is skipped.
    private func collect(
        _ scan: VectorScan,
        candidates limit: Int,
        excluding excluded: NameTable
    ) throws(StatusError) -> Bool {
        var candidates = VectorCandidates(limit: limit, isOrderedByName: scan.isOrderedByName)
        let byteCount = scan.search.byteCount
        let filter = scan.source == .probed ? try IndexProbeFilter(disjuncts, index) : nil
        let visit = { (vector: IndexVector, candidates: inout VectorCandidates) throws(StatusError) in
            self.index.entriesScanned += 1
            guard vector.bytes.count == byteCount else { return }
            if scan.search.lowerBound(vector.bytes) > candidates.maximumRank { return candidates.skip() }
            guard excluded.count == 0 || excluded.index(of: vector.name, NameTable.Hash(vector.name)) == nil else { return }
            let name = Array(vector.name)
            if let filter, try !filter.mayMatch(name) { return }
            guard let ranks = scan.search.ranks(vector.bytes, isExact: vector.isExact) else { return }
            candidates.add(name, ranks)
            if candidates.isFull { try self.read(&candidates, scan) }
        }
        switch scan.source {
        case .all, .probed:
            plan.append(scan.planText(disjuncts))
            try index.snapshot.forEachVector(index.names.target, scan.field) { vector throws(StatusError) in
                try visit(vector, &candidates)
                return true
            }
        case .lookups:
            let lookup = try index.snapshot.vectorLookup(index.names.target, scan.field)
            let isExact = { (path: AccessPath, disjunct: FilterDisjunct) in disjunct.isExact(path) }
            try forEachCandidate(using: isExact) { name, _ throws(StatusError) in
                try lookup.withVector(of: name) { vector throws(StatusError) in try visit(vector, &candidates) }
                try index.snapshot.checkCancellation()
                return true
            }
            plan.append(scan.planText(disjuncts))
        }
        try read(&candidates, scan)
        return !candidates.hasDropped || candidates.readBound.isAtOrBefore(candidates.bound)
    }

    /// Reads and removes the candidates that may be among the nearest, those that may be nearest first.
    private func read(_ candidates: inout VectorCandidates, _ scan: VectorScan) throws(StatusError) {
        for candidate in candidates.removeAll() where candidates.isNeeded(candidate) {
            guard let path = index.names.path(candidate.name), let match = try evaluate(path) else { continue }
            try collector.add(match)
            if let last = collector.lastOfFullGroup, let distance = last.distance {
                let name = scan.isOrderedByName ? index.names.name(of: last.path) : nil
                candidates.readBound = VectorCandidates.Position(rank: scan.search.rank(of: distance), name: name)
            }
        }
    }
}
