internal import DocumentModel

extension LocalStore {
    /// Returns the target for new listeners, from the cache if it has been listened to before.
    mutating func allocate(_ target: SyncTarget) throws(StatusError) -> CachedTarget {
        let cached = try transaction { (cache: inout Cache) throws(StatusError) in
            if let cached = try cache.target(target) { return cached }
            return try cache.addTarget(target)
        }
        if activeTargets[cached.id] == nil {
            activeTargets[cached.id] = cached
            savedTimes[cached.id] = cached.snapshotTime
        }
        return activeTarget(cached.id) ?? cached
    }

    /// Returns a target with listeners, with its latest position.
    func activeTarget(_ id: TargetID) -> CachedTarget? {
        guard var target = activeTargets[id] else { return nil }
        if stream.targets.contains(id) { stream.move(&target) }
        return target
    }

    /// Ends the effect of later snapshots on a target that they do not name, since the stream is no longer that of the target.
    mutating func leaveStream(_ id: TargetID) {
        activeTargets[id] = activeTarget(id)
        stream.targets.remove(id)
    }

    /// Releases targets without listeners. An eager cache forgets them, another keeps them with their latest tokens.
    ///
    /// - Throws: The error of the cache, which then keeps the targets as they were.
    mutating func release(_ ids: [TargetID]) throws(StatusError) {
        for id in ids { leaveStream(id) }
        let targets = ids.compactMap { activeTargets.removeValue(forKey: $0) }
        for id in ids { savedTimes[id] = nil }
        guard !targets.isEmpty else { return }
        let keys = try transaction { (cache: inout Cache) throws(StatusError) -> Set<DocumentPath> in
            var keys: Set<DocumentPath> = []
            let use = try cache.nextUse()
            for target in targets {
                if cache.isEager {
                    keys.formUnion(try cache.keys(of: target.id))
                    try cache.removeTarget(target.id)
                } else {
                    var target = target
                    target.lastUse = use
                    try cache.save(target)
                }
            }
            return keys
        }
        suggestEviction(of: keys)
    }

    /// Releases all targets and views.
    mutating func releaseAll() throws(StatusError) {
        suggestEviction(of: viewCounts.keys)
        viewCounts = [:]
        try release(activeTargets.keys.sorted())
    }

    /// The result of a query in the cache.
    struct QueryResult {
        /// The documents that match: all, or at least those within the limit.
        var documents: LocalDocuments = [:]
        /// The documents that the server counts to the target.
        var targetKeys: Set<DocumentPath> = []
    }

    /// Runs a query over the cache. A scan of all documents is done in steps: after each but the last one, the call is repeated with the
    /// scan.
    ///
    /// - Parameters:
    ///   - usesTargetKeys: True to start from the documents that the server counts to the target, if that gives the same result as a
    ///     scan.
    ///   - previous: The scan after its last step; `nil` to begin.
    ///   - maximumCount: The approximate number of documents to scan in this step.
    mutating func run(
        _ query: ViewQuery,
        usesTargetKeys: Bool,
        continuing previous: ScanID?,
        maximumCount: Int
    ) throws(StatusError) -> ScanOutcome<QueryResult> {
        let (user, indexScans) = (user, query.indexScans)
        let active = activeTargets.values.first { $0.target == query.target }
        var scan = CacheScan(dropsRest: true)
        var isBegun = false
        // That of a cache which was replaced since begins anew.
        if let previous, let begun = scans.removeValue(forKey: previous) { (scan, isBegun) = (begun, true) }
        var usesIndexes = false
        let result = try transaction { (cache: inout Cache) throws(StatusError) -> QueryResult? in
            // In later steps the target has no part. Its documents may be many.
            if isBegun, try !scan.advance(in: cache, for: query, maximumCount: maximumCount) { return nil }
            var result = QueryResult()
            var target = active
            if target == nil { target = try cache.target(query.target) }
            if let target { result.targetKeys = try cache.keys(of: target.id) }
            if !isBegun {
                if case .document(let path) = query.target {
                    result.documents = try cache.localDocuments(at: [path], for: user)
                    return result
                }
                if let indexScans, let documents = try cache.documents(matching: query, by: indexScans, for: user) {
                    result.documents = documents
                    usesIndexes = true
                    return result
                }
                if usesTargetKeys, let change = target?.syncedChange,
                    let documents = try cache.documents(
                        matching: query,
                        startingFrom: result.targetKeys,
                        after: change,
                        for: user
                    )
                {
                    result.documents = documents
                    return result
                }
                guard try scan.advance(in: cache, for: query, maximumCount: maximumCount) else { return nil }
            }
            guard let documents = try scan.result(in: cache, for: query, user) else {
                scan = CacheScan()
                return nil
            }
            result.documents = documents
            return result
        }
        guard let result else {
            lastScanID += 1
            scans[lastScanID] = scan
            return .incomplete(lastScanID)
        }
        // A query needs no index. An error of the cache is that of the next call as well.
        if let indexScans, usesIndexes {
            try? transaction { (cache: inout Cache) throws(StatusError) in try cache.touch(Set(indexScans.map(\.index))) }
        } else if let indexScans, isWorthIndex(query, scannedCount: scan.count, matchCount: result.documents.count) {
            try? addIndexes(Set(indexScans.map(\.index)))
        }
        return .complete(result)
    }

    /// Ends a scan that is not continued.
    mutating func end(_ scan: ScanID) {
        scans[scan] = nil
    }

    /// Records documents that have changed, for the scans under way.
    mutating func recordChanges(of paths: some Sequence<DocumentPath>) {
        for id in scans.keys { scans[id]?.changed.formUnion(paths) }
    }

    /// Returns the documents that match a query among some and those with local writes.
    mutating func result(of query: ViewQuery, among paths: Set<DocumentPath>) throws(StatusError) -> LocalDocuments {
        let user = user
        return try transaction { (cache: inout Cache) throws(StatusError) in
            try cache.documents(matching: query, after: cache.lastChange, for: user)
                .merging(cache.localDocuments(at: paths, for: user)) { $1 }
        }
    }

    /// Records that a view of a target was synced: what it shows is what the server has, up to the last change of the cache.
    mutating func markSynced(_ id: TargetID) throws(StatusError) {
        guard var target = activeTarget(id) else { return }
        let isFirst = target.syncedChange == nil
        target.syncedChange = try transaction { (cache: inout Cache) throws(StatusError) in
            let change = try cache.lastChange
            if isFirst {
                var saved = target
                saved.syncedChange = change
                try cache.save(saved)
            }
            return change
        }
        if isFirst { savedTimes[id] = target.snapshotTime }
        activeTargets[id] = target
    }
}

/// The position of a stream, and the targets that are up to date by it, whether its snapshots name them or not.
struct StreamPosition {
    var targets: Set<TargetID> = []
    /// The time at which the position was last compared with those that the cache has of all targets.
    var comparedTime: Timestamp?
    private var token: String?
    private var time: Timestamp?

    /// Creates the position of a stream that has told none.
    init() {}

    mutating func move(to token: String, at time: Timestamp?) {
        (self.token, self.time) = (token, time)
    }

    /// Gives a target the position.
    func move(_ target: inout CachedTarget) {
        guard let token else { return }
        (target.token, target.snapshotTime) = (token, time)
    }
}

extension LocalCache {
    /// Returns the documents that match a query, by the previous result and what has changed since; `nil` if only a scan finds all.
    fileprivate func documents(
        matching query: ViewQuery,
        startingFrom keys: Set<DocumentPath>,
        after change: ChangeNumber,
        for user: UserID
    ) throws(StatusError) -> [DocumentPath: LocalDocument?]? {
        guard !query.matchesAllDocuments else { return nil }
        var matches: [DocumentPath: LocalDocument?] = [:]
        var edge: (key: ViewSortKey, document: LocalDocument)?
        for (path, document) in try localDocuments(at: keys, for: user) {
            guard let document, let key = query.match(document) else { continue }
            matches[path] = document
            if edge.map({ query.precedes($0.key, key) }) ?? true { edge = (key, document) }
        }
        if query.targetLimit != nil {
            guard matches.count == keys.count else { return nil }
            if let document = edge?.document {
                // Another document may have taken the place of the last one.
                let isStable = try documents(at: [document.path])[document.path].map { $0.change <= change } ?? false
                guard isStable, !document.hasLocalMutations, !document.hasCommittedMutations else { return nil }
            }
        }
        return try documents(matching: query, after: change, for: user).merging(matches) { $1 }
    }

    /// Returns the documents that match a query among those that were saved after a change or have local writes.
    fileprivate func documents(
        matching query: ViewQuery,
        after change: ChangeNumber,
        for user: UserID
    ) throws(StatusError) -> [DocumentPath: LocalDocument?] {
        guard case .query = query.target else {
            guard case .document(let path) = query.target else { return [:] }
            return try localDocuments(at: [path], for: user)
        }
        var scan = CacheScan(after: change)
        while try !scan.advance(in: self, for: query, maximumCount: .max) {}
        return try scan.result(in: self, for: query, user) ?? [:]
    }
}
