internal import DocumentModel

/// A scan of the cached documents of a query, in steps. Other inputs of the engine may come between them.
struct CacheScan: Sendable {
    /// The number of documents that were read.
    private(set) var count = 0
    /// The documents that have changed since the scan has begun.
    var changed: Set<DocumentPath> = []
    private let change: ChangeNumber
    private var position: ScanPosition?
    /// The documents that match without local writes; of those beyond the limit not all.
    private var matches: [DocumentPath: (document: LocalDocument, key: ViewSortKey)] = [:]
    /// True if documents beyond the limit are dropped.
    private let dropsRest: Bool
    /// The key of the last document that was kept when others were dropped, all of which are behind it.
    private var edge: ViewSortKey?

    /// The number of documents beyond the limit that are kept, in place of others that local writes and changes remove.
    private static var spareCount: Int { 1_000 }

    /// Creates a scan of the documents that were saved after a change.
    ///
    /// - Parameter dropsRest: True to drop documents beyond the limit, so that there may be no result.
    init(after change: ChangeNumber = 0, dropsRest: Bool = false) {
        self.change = change
        self.dropsRest = dropsRest
    }

    /// Reads the next documents.
    ///
    /// - Parameter maximumCount: The approximate number of documents to read.
    /// - Returns: True if these were the last ones.
    mutating func advance<Cache: LocalCache>(
        in cache: Cache,
        for query: ViewQuery,
        maximumCount: Int
    ) throws(StatusError) -> Bool {
        guard case .query(let target) = query.target else { return true }
        var found: [(document: LocalDocument, key: ViewSortKey)] = []
        let step = try cache.visitDocuments(
            in: target.source,
            after: change,
            from: position,
            maximumCount: maximumCount,
            selecting: DocumentSelector(query.normalized)
        ) { (remote) throws(StatusError) in
            if let document = OverlaidDocument(remote, at: remote.path).document, let key = query.match(document) {
                found.append((document, key))
            }
        }
        for match in found { matches[match.document.path] = match }
        dropRest(of: query)
        count += step.count
        position = step.position
        return position == nil
    }

    private mutating func dropRest(of query: ViewQuery) {
        guard dropsRest, let limit = query.targetLimit else { return }
        let maximumCount = limit.addingSaturated(Self.spareCount)
        guard matches.count > maximumCount.addingSaturated(Self.spareCount) else { return }
        let kept = matches.values.sorted { query.precedes($0.key, $1.key) }.prefix(maximumCount)
        matches = Dictionary(uniqueKeysWithValues: kept.map { ($0.document.path, $0) })
        edge = kept.last?.key
    }

    /// Returns the documents that match, with the local writes of a user, and of those beyond the limit not all; `nil` if documents were
    /// dropped that may be within the limit.
    func result<Cache: LocalCache>(
        in cache: Cache,
        for query: ViewQuery,
        _ user: UserID
    ) throws(StatusError) -> [DocumentPath: LocalDocument?]? {
        guard case .query(let target) = query.target else { return [:] }
        var result = matches.mapValues { Optional($0.document) }
        let uncertain = try Set(cache.overlays(in: target.source, for: user).keys)
            .union(changed.filter { query.target.covers($0) })
        if let edge, let limit = query.targetLimit {
            // Those that were found behind the edge since may be behind dropped ones.
            let certain = matches.values.count { !uncertain.contains($0.document.path) && !query.precedes(edge, $0.key) }
            guard certain >= limit else { return nil }
        }
        for (path, document) in try cache.localDocuments(at: uncertain, for: user) {
            result[path] = nil
            if let document, query.match(document) != nil { result[path] = document }
        }
        return result
    }
}

/// The outcome of an input that may have to scan many documents.
package enum ScanOutcome<Result> {
    /// The input has been processed.
    case complete(Result)
    /// Only a part of the documents was read: the input is to be repeated with the scan, or the scan to be ended.
    case incomplete(ScanID)
}

/// A number that identifies a scan under way. It has another one after each step.
package typealias ScanID = UInt64
