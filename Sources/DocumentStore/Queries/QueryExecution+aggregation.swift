internal import DocumentModel

extension QueryExecution {
    /// Makes the numbers that are wanted of all documents of the query.
    ///
    /// Documents are read only where the entries don't tell enough.
    func aggregate(_ aggregations: NormalizedAggregations) throws(StatusError) -> MapValue {
        var state = AggregationState(aggregations)
        guard query.limit != 0, !alternatives.isEmpty else { return state.results }
        guard query.limit == nil, query.offset == 0 else {
            if aggregations.fields.isEmpty {
                state.add(documents: try run().count)
            } else {
                for document in try run() { state.add(try document.decoded().fields) }
            }
            return state.results
        }
        let end = aggregations.fields.isEmpty ? aggregations.countEnd : nil
        if aggregations.fields.isEmpty, let count = try countOfEntries(limit: end) {
            state.add(documents: count)
            return state.results
        }
        try forEachChanged { document throws(StatusError) in
            let fields = try neededFields(of: document)
            if query.match(fields, at: document.path) != nil { state.add(fields) }
            return !state.isComplete
        }
        guard !state.isComplete else { return state.results }
        try forEachCandidate { path, alternative throws(StatusError) in
            if let (_, fields, _) = try match(path, by: alternative) { state.add(fields) }
            return !state.isComplete
        }
        return state.results
    }

    /// How many documents the query finds, counted in the index up to `limit`; nil where only the documents tell.
    private func countOfEntries(limit: Int?) throws(StatusError) -> Int? {
        guard let alternative = alternatives.first, alternatives.count == 1, alternative.isExact, !hasChanged,
            query.start == nil, query.end == nil, !query.requiredFields.contains(where: rules.isExempt),
            query.orders.allSatisfy({ !$0.isByDistance })
        else { return nil }
        let told = alternative.scans.reduce(into: Set<FieldPath>()) { told, scan in
            if case .elements = scan.subject { return }
            told.formUnion(scan.fields)
        }
        let untold = query.requiredFields.filter { !told.contains($0) }
        let scans = alternative.scans + untold.map { FieldScan(existing: $0) }
        switch scans.count {
        case 0:
            plan.append("Count all documents in the index")
            let count = try index.snapshot.count(index.scan(alternative.names), limit: limit)
            index.rows += count
            return count
        case 1 where scans[0].isDistinct:
            plan.append("Count the entries of \(scans[0].text)")
            return try index.count(scans[0], alternative.names, limit: limit)
        default:
            let others = scans.filter { !$0.isPoints }
            if others.isEmpty { return try countOfCommon(scans, alternative, limit: limit) }
            guard others.count == 1, alternative.points.allSatisfy(\.isToldByLooks) else {
                return nil
            }
            return try countOfLooked(others[0], alternative, limit: limit)
        }
    }

    /// Counts the documents that are in all fields' ranges, each of one value.
    private func countOfCommon(
        _ fields: [FieldScan],
        _ alternative: QueryAlternative,
        limit: Int?
    ) throws(StatusError) -> Int {
        plan.append("Count the documents that are in the entries of " + fields.map(\.text).joined(separator: " and of "))
        let stream = try index.names(in: fields, alternative.names, isDescending: false)
        var count = 0
        while stream.current != nil, count < limit ?? .max {
            count += 1
            try index.snapshot.checkCancellation()
            try stream.advance()
        }
        return count
    }

    /// Counts the documents in a field's ranges that are also at the other fields' values; nil where reading those that are at
    /// these is less work.
    private func countOfLooked(
        _ field: FieldScan,
        _ alternative: QueryAlternative,
        limit: Int?
    ) throws(StatusError) -> Int? {
        let points = try index.best([.points(alternative.points)], alternative, limit: .max)?.count ?? .max
        // Looking is so much less than reading.
        let bound = points.multipliedReportingOverflow(by: 5)
        if !bound.overflow, try index.count(field, alternative.names, limit: bound.partialValue + 1) > bound.partialValue {
            return nil
        }
        plan.append("Count the entries of \(field.text)" + Self.looks(at: alternative.points))
        var count = 0
        try index.forEach(.range(field), alternative) { _ in
            count += 1
            return count < limit ?? .max
        }
        return count
    }
}

extension NormalizedAggregations {
    /// How far has to be counted where only counts are wanted; to the end when nil.
    fileprivate var countEnd: Int? {
        var end = 0
        for (_, operation) in operations {
            guard case .count(let upTo?) = operation else { return nil }
            end = max(end, upTo)
        }
        return end
    }
}

extension Query.Order {
    fileprivate var isByDistance: Bool {
        if case .distance = key { true } else { false }
    }
}
