internal import DocumentModel

extension QueryExecution {
    /// What work costs, a row of the index as the measure.
    enum Cost {
        static let document = 10
    }

    /// Chooses the way, and goes it.
    func select() throws(StatusError) {
        if query.sortsByVectorOnly { return try sort() }
        if let ring = ringOrder, query.limit != nil { return try takeRings(ring.field, ring.center, ring.direction) }
        guard let walk = QueryWalk(query, alternatives, index.names, rules) else { return try sort() }
        if walk.field == nil, let stream = try nameStream(walk) { return try merge(stream, walk) }
        guard let needed = query.neededCount else { return try isWalkBest(walk) ? try self.walk(walk, until: nil) : try sort() }
        if hasOtherWays(than: walk) {
            if try countOfBest(limit: 2 * min(needed, 1 << 32) + 8) != nil { return try sort() }
            return try self.walk(walk, until: max(2_000, min(needed, 1 << 32) * 4 * Cost.document))
        }
        try self.walk(walk, until: nil)
    }

    /// What all documents of the result have, whatever the filter says.
    var implied: [FieldScan] {
        if query.sortsByVectorOnly, let search = query.vectorSearch, !rules.isExempt(search.field) {
            return [FieldScan(existing: search.field, in: .bracket(.vector))]
        }
        for order in query.orders where !rules.isExempt(order.key.field) {
            if case .distance(let field, _) = order.key { return [FieldScan(existing: field, in: .bracket(.geoPoint))] }
        }
        return query.requiredFields.filter { !rules.isExempt($0) }.map { FieldScan(existing: $0) }
    }

    /// Whether sorting could be less work than walking.
    private func hasOtherWays(than walk: QueryWalk) -> Bool {
        alternatives.allSatisfy { alternative in
            alternative.accesses([]).contains { access in
                switch access {
                case .all: false
                case .range(let scan): !scan.fields.isSubset(of: walk.fields)
                case .points(let scans): scans.contains { !$0.fields.isSubset(of: walk.fields) }
                case .documents, .places: true
                }
            }
        }
    }

    /// How many documents sorting would look at; nil when there are `limit` or more.
    func countOfBest(limit: Int) throws(StatusError) -> Int? {
        var sum = 0
        for alternative in alternatives {
            guard let best = try index.best(alternative.accesses(implied), alternative, limit: limit - sum) else { return nil }
            sum += best.count
            if sum >= limit { return nil }
        }
        return sum
    }

    /// Whether there are fewer documents on the walk than any other way.
    private func isWalkBest(_ walk: QueryWalk) throws(StatusError) -> Bool {
        guard hasOtherWays(than: walk) else { return true }
        var bound = 128
        while true {
            if try countOfBest(limit: bound) != nil { return false }
            var count = 0
            for scan in walk.scans(index.names.target) where count < bound {
                count += try index.snapshot.count(scan, limit: bound - count)
            }
            index.rows += count
            if count < bound { return true }
            bound *= 8
        }
    }
}
