internal import DocumentModel

/// A scan of the vectors of an index for a vector search, which reads only the documents that may be among the nearest.
struct VectorScan: Sendable {
    /// The way to find the vectors of the documents that match the filter.
    enum Source {
        /// All vectors: the query has no filter.
        case all
        /// All vectors. Index probes evaluate the filter for those that are near enough.
        case probed
        /// The vectors of the documents that the filter's access paths find.
        case lookups
    }

    let field: FieldPath
    let search: PackedVectorSearch
    let source: Source
    /// The maximum number of documents in the result.
    let limit: Int
    /// True if documents at the same distance are in ascending order of their names.
    let isOrderedByName: Bool

    /// The cost of a lookup of a vector, compared with the next one in a scan.
    private static let lookupCost = 8

    /// Creates a scan; `nil` if index entries do not decide which documents match the query.
    init?(_ planner: QueryPlanner) throws(StatusError) {
        let (query, disjuncts) = (planner.query, planner.disjuncts)
        guard let vectorSearch = query.vectorSearch, let search = PackedVectorSearch(vectorSearch),
            query.start == nil, query.end == nil, !planner.policy.isExempt(vectorSearch.field),
            query.orders.allSatisfy({ !$0.isByDistance }),
            disjuncts.allSatisfy({ disjunct in
                planner.coversRequiredFields(disjunct.scans, [])
                    && disjunct.accessPaths(implied: planner.impliedScans).contains(where: disjunct.isExact)
            })
        else { return nil }
        field = vectorSearch.field
        self.search = search
        limit = vectorSearch.limit
        isOrderedByName = query.orders.count == 1 && query.orders.allSatisfy { $0.direction == .ascending }
        let isWithinNames = disjuncts.contains { $0.names != .allNames }
        if disjuncts.count == 1, disjuncts[0].scans.isEmpty, !isWithinNames {
            source = .all
        } else if !isWithinNames, disjuncts.allSatisfy(\.isCoveredByProbes) {
            source = try Self.areLookupsCheaper(planner) ? .lookups : .probed
        } else if disjuncts.dropLast().allSatisfy(\.isCoveredByProbes) {
            source = .lookups
        } else {
            return nil
        }
    }

    /// Returns whether the documents that match the filter are few compared with all documents.
    private static func areLookupsCheaper(_ planner: QueryPlanner) throws(StatusError) -> Bool {
        let index = planner.index
        var bound = 1_024
        while true {
            if try planner.candidateCount(limit: bound, using: { $1.isExact($0) }) != nil { return true }
            let limit = lookupCost * bound
            let count = try index.snapshot.count(index.scan(.allNames), limit: limit)
            index.entriesScanned += count
            if count < limit { return false }
            bound *= 8
        }
    }

    /// Returns the plan line of the scan.
    func planText(_ disjuncts: [FilterDisjunct]) -> String {
        switch source {
        case .all: "Scan vectors: \(field)"
        case .probed where disjuncts.count == 1: "Scan vectors: \(field)\(disjuncts[0].pointLookups.probeText)"
        case .probed: "Scan vectors: \(field), with index probes of the filter"
        case .lookups: "Look up the vector of each document: \(field)"
        }
    }
}
