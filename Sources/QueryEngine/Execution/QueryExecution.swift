package import DocumentModel
package import DocumentStore
import UTF8Text

/// The execution of a query on a view of an index, on one thread.
///
/// The index supplies candidates only: each candidate document is read as of the read time, and the query is evaluated on it. So
/// the result is correct even if the index cannot express a condition or a file was edited by hand. ``QueryPlan`` lists the
/// strategies. Aggregations, documents before the offset, and the choice of the nearest vectors rely on the index alone where it can
/// express all conditions.
package final class QueryExecution {
    let query: NormalizedQuery
    let index: MeteredIndexReader
    let documents: any QueryDocuments
    let planner: QueryPlanner
    /// The plan lines so far.
    var plan: [String] = []
    var collector: TopKCollector
    /// The documents that were changed after the read time, or are unreadable. Index scans skip them, since they are evaluated
    /// separately.
    private(set) var changed: Set<DocumentPath> = []
    /// The maximum memory use of an index join. Larger joins are run in partitions.
    let maximumJoinBytes: Int
    /// The fields to return; `nil` for those of the query.
    private let mask: [FieldPath]?
    /// The top-level fields that the query needs; `nil` for all.
    private let requiredNames: [UTF8Key]?

    var disjuncts: [FilterDisjunct] { planner.disjuncts }

    /// Creates an execution and checks that the query's fields are indexed.
    ///
    /// - Parameters:
    ///   - snapshot: The view of the index, as of the read time of `documents` or a later time.
    ///   - maximumBytes: The maximum size of the result.
    ///   - mask: The fields to return; `nil` for the query's projection.
    ///   - maximumJoinBytes: The maximum memory use of an index join, approximately.
    /// - Throws: `.failedPrecondition` with a field that the query requires and that is exempted from indexing.
    package init(
        _ query: NormalizedQuery,
        _ snapshot: any QueryIndex,
        _ documents: any QueryDocuments,
        maximumBytes: Int,
        mask: [FieldPath]? = nil,
        maximumJoinBytes: Int = 32 << 20
    ) throws(StatusError) {
        self.query = query
        self.documents = documents
        self.mask = mask
        self.maximumJoinBytes = maximumJoinBytes
        requiredNames = query.requiredNames
        index = MeteredIndexReader(snapshot, NameKeyMapping(query.source))
        planner = try QueryPlanner(query, index)
        collector = TopKCollector(query, maximumBytes: maximumBytes)
    }

    /// The plan and the costs so far.
    package var metrics: QueryMetrics {
        QueryMetrics(plan: plan, entriesScanned: index.entriesScanned, documentsRead: documents.readCount)
    }

    /// Runs the query and returns the documents of the result.
    package func run() throws(StatusError) -> [EncodedDocument] {
        if query.limit != 0, !disjuncts.isEmpty {
            try collectChanged()
            switch try planner.plan() {
            case .sort: try sort()
            case .vectorScan(let scan): try run(scan)
            case .geoNearestNeighbor(let scan): try run(scan)
            case .mergeJoin(let iterator, let paths, let isExact): try mergeJoin(iterator, paths, isExact: isExact)
            case .orderedScan(let scan, let reconsiderationCost): try run(scan, reconsideringAt: reconsiderationCost)
            }
        } else {
            plan.append("Return an empty result")
        }
        return try collector.result { match throws(StatusError) in
            guard let document = try documents.document(at: match.path) else { return nil }
            return query.resultDocument(document, try document.decoded().fields, match.distance, mask)
        }
    }

    /// Reads a candidate and evaluates the query on it; `nil` if it does not match.
    ///
    /// - Parameter disjunct: The disjunct that found the candidate, when each disjunct is scanned separately.
    func evaluate(_ path: DocumentPath, disjunct: Int? = nil) throws(StatusError) -> QueryMatch? {
        guard let (document, fields, key) = try readMatching(path, disjunct: disjunct) else { return nil }
        return QueryMatch(document, fields, key, of: query, mask)
    }

    /// Evaluates the query on a document; `nil` if it does not match.
    func evaluate(_ document: EncodedDocument) throws(StatusError) -> QueryMatch? {
        let fields = try requiredFields(of: document)
        return query.match(fields, at: document.path).flatMap { QueryMatch(document, fields, $0, of: query, mask) }
    }

    /// Reads a candidate; `nil` if it does not match.
    ///
    /// - Parameter disjunct: The disjunct that found the candidate, when each disjunct is scanned separately: to avoid duplicates, the
    ///   candidate must match no earlier one.
    func readMatching(
        _ path: DocumentPath,
        disjunct: Int? = nil
    ) throws(StatusError) -> (EncodedDocument, fields: MapValue, key: NormalizedQuery.SortKey)? {
        guard !changed.contains(path) else { return nil }
        try index.snapshot.checkCancellation()
        guard let document = try documents.document(at: path) else { return nil }
        let fields = try requiredFields(of: document)
        if let disjunct, disjuncts.count > 1, query.filter.firstMatchingDisjunct(fields, at: path) != disjunct { return nil }
        return query.match(fields, at: path).map { (document, fields, $0) }
    }

    /// Decodes the fields that the query needs.
    func requiredFields(of document: EncodedDocument) throws(StatusError) -> MapValue {
        if let requiredNames { try document.fields(named: requiredNames) } else { try document.decoded().fields }
    }
}

extension QueryExecution {
    /// Evaluates the query on the documents that were changed after the read time, in their old state.
    private func collectChanged() throws(StatusError) {
        try forEachChanged { document throws(StatusError) in
            if let match = try evaluate(document) { try collector.add(match) }
            return true
        }
        collector.moveGroupToOverlay()
    }

    /// True if the snapshot has commits after the read time.
    var hasChanges: Bool { documents.time < index.snapshot.commitTime ?? .minimum }

    /// Calls `body` with the before-images of the source's documents that were changed after the read time, until it returns
    /// `false`. Later scans skip these documents.
    func forEachChanged(_ body: (EncodedDocument) throws(StatusError) -> Bool) throws(StatusError) {
        guard hasChanges else { return }
        let paths = try documents.changedPaths(in: query.source)
        guard !paths.isEmpty else { return }
        changed = Set(paths)
        plan.append("Read \(paths.count.counted("document")) from the journal that changed after the read time")
        for start in stride(from: 0, to: paths.count, by: Self.imageBatchSize) {
            try index.snapshot.checkCancellation()
            for image in try documents.images(ofChanged: paths[start..<min(start + Self.imageBatchSize, paths.count)]) {
                guard try body(image) else { return }
            }
        }
    }

    /// Returns the documents of the source that are known to be unreadable.
    func unreadablePaths() throws(StatusError) -> [DocumentPath] {
        let known = documents.unreadablePaths(in: query.source)
        let indexed = try index.snapshot.unreadablePaths(in: query.source)
        return indexed.isEmpty ? known : Array(Set(known).union(indexed))
    }

    /// Reads the documents that are known to be unreadable, so that they are reported, and calls `body` with those that can be
    /// read after all, until it returns `false`. Later scans skip all of them.
    func forEachUnreadable(_ body: (EncodedDocument) throws(StatusError) -> Bool) throws(StatusError) {
        let paths = try unreadablePaths().filter { !changed.contains($0) }
        guard !paths.isEmpty else { return }
        changed.formUnion(paths)
        plan.append("Read \(paths.count.counted("document")) found to be unreadable")
        for path in paths {
            try index.snapshot.checkCancellation()
            if let document = try documents.document(at: path), try !body(document) { return }
        }
    }

    /// The names of the changed documents. Computed each time.
    var changedNames: NameTable {
        var names = NameTable()
        for path in changed {
            index.names.name(of: path).withUnsafeBytes { names.insert($0, NameTable.Hash($0)) }
        }
        return names
    }

    /// The number of before-images that are read together.
    private static let imageBatchSize = 256
}

extension QueryExecution {
    /// Reads all candidates and sorts them.
    func sort() throws(StatusError) {
        try forEachCandidate { name, disjunct throws(StatusError) in
            if let path = index.names.path(name), let match = try evaluate(path, disjunct: disjunct) { try collector.add(match) }
            return true
        }
        plan.append("Read each document and apply the filter")
        plan.append(query.limit == nil ? "Sort the results" : "Sort the results, keeping the first ones up to the limit")
        try collector.finishGroup()
    }

    /// Calls `body` with the name of each candidate document and the disjunct that found it, in no defined order, until it returns
    /// `false`.
    ///
    /// A document that several disjuncts find is passed once for each, unless index probes show that an earlier one matches.
    ///
    /// - Parameter isUsable: Whether to use an access path of a disjunct; at least one must be usable.
    func forEachCandidate(
        using isUsable: (AccessPath, FilterDisjunct) -> Bool = { _, _ in true },
        _ body: (_ name: [UInt8], _ disjunct: Int) throws(StatusError) -> Bool
    ) throws(StatusError) {
        var continues = true
        for (number, disjunct) in disjuncts.enumerated() where continues {
            let paths = disjunct.accessPaths(implied: planner.impliedScans).filter { isUsable($0, disjunct) }
            guard var path = paths.first else { continue }
            if paths.count > 1, let best = try index.cheapest(paths, disjunct, limit: .max) { path = best.path }
            plan.append(path.planText + Self.probeText(disjunct, path))
            var coveredDisjuncts: [(names: Range<NameBound>, filter: IndexProbeFilter)] = []
            for earlier in disjuncts[..<number] where earlier.isCoveredByProbes {
                coveredDisjuncts.append((earlier.names, try IndexProbeFilter([earlier], index)))
            }
            try index.forEach(path, disjunct) { name throws(StatusError) in
                for (names, filter) in coveredDisjuncts where names.contains(NameBound(name)) {
                    if try filter.mayMatch(name) { return true }
                }
                continues = try body(name, number)
                return continues
            }
        }
    }

    private static func probeText(_ disjunct: FilterDisjunct, _ path: AccessPath) -> String {
        switch path {
        case .scan, .geoScan, .fullScan: disjunct.pointLookups.probeText
        case .lookup, .intersection: ""
        }
    }

    /// Reads the documents of an iterator in its order.
    private func mergeJoin(
        _ iterator: any SortedNameIterator,
        _ paths: [AccessPath],
        isExact: Bool
    ) throws(StatusError) {
        plan += paths.map(\.planText)
        var skipping = try OffsetSkipping(isExact, self)
        plan += skipping.planText
        plan.append("Read each document in name order and apply the filter" + (query.limit == nil ? "" : ", up to the limit"))
        while let name = iterator.current, !collector.isFull {
            if skipping.skips(name) {
                try index.snapshot.checkCancellation()
                collector.skip()
            } else if let path = index.names.path(name), let match = try evaluate(path) {
                try collector.add(match)
                try collector.finishGroup()
            }
            try iterator.advance()
        }
    }

    /// Executes an ordered scan until the result is complete, or switches to a sort.
    ///
    /// - Parameter reconsiderationCost: The cost after which the plan is first compared with a sort; `nil` for never.
    private func run(_ orderedScan: OrderedIndexScan, reconsideringAt reconsiderationCost: Int?) throws(StatusError) {
        let probes = disjuncts.count == 1 ? disjuncts[0].pointLookups.filter { !$0.fields.isSubset(of: orderedScan.fields) } : []
        plan.append(orderedScan.planText + probes.probeText)
        var skipping = try OffsetSkipping(planner.covers(orderedScan), self)
        plan += skipping.planText
        plan.append("Read each document and apply the filter" + (query.limit == nil ? "" : ", up to the limit"))
        let initialCollector = collector
        let filter = try JoinedProbeFilter(disjuncts, except: orderedScan.fields, index)
        var nextCheck = reconsiderationCost ?? .max
        let initialEntries = index.entriesScanned
        let initialReads = documents.readCount
        var groupValue: [UInt8]?
        for scan in orderedScan.scans(index.names.target) {
            let cursor = try filter.cursor(scan)
            while try cursor.next() {
                if let value = groupValue, !cursor.value.elementsEqual(value) {
                    try collector.finishGroup()
                    groupValue = nil
                }
                if collector.isFull { return }
                if ValueKey.isTruncated(byteCount: cursor.value.count) { skipping.end() }
                let name = try filter.name(cursor)
                if let name, skipping.skips(name) {
                    collector.skip()
                } else if let name, let path = index.names.path(name), let match = try evaluate(path) {
                    try collector.add(match)
                    if orderedScan.field != nil,
                        orderedScan.mustSortEqualValues || ValueKey.isTruncated(byteCount: cursor.value.count)
                    {
                        if groupValue == nil { groupValue = Array(cursor.value) }
                    } else {
                        try collector.finishGroup()
                        if collector.isFull { return }
                    }
                }
                let cost =
                    index.entriesScanned - initialEntries + (documents.readCount - initialReads) * QueryPlanner.Cost.document
                if cost >= nextCheck {
                    if try planner.candidateCount(limit: cost / QueryPlanner.Cost.document) != nil {
                        plan.append("Switch plan: sorting all candidates is cheaper than continuing the scan")
                        collector = initialCollector
                        return try sort()
                    }
                    nextCheck = 2 * cost
                }
            }
            // A value is in one range only.
            if groupValue != nil { try collector.finishGroup() }
            groupValue = nil
        }
    }
}
