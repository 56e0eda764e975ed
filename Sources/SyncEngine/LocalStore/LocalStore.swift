internal import DocumentModel

/// The cache with the semantics of local writes: documents as the client sees them, and the rules by which they change.
///
/// Each operation is one transaction of the cache. The state in memory follows only after it.
struct LocalStore<Cache: LocalCache> {
    private(set) var cache: Cache
    private(set) var user: UserID
    /// The targets with listeners, with their latest tokens, which the cache may lag behind. Those that follow the stream have its
    /// position instead: ``activeTarget(_:)`` returns both.
    var activeTargets: [TargetID: CachedTarget] = [:]
    /// The position of the stream, with the targets that it holds for.
    var stream = StreamPosition()
    /// The epochs of the server since the start.
    var epochs = EpochHistory()
    /// The times of the snapshots whose tokens the cache has.
    var savedTimes: [TargetID: Timestamp] = [:]
    /// The number of views that show a document, which keeps it from being evicted.
    var viewCounts: [DocumentPath: Int] = [:]
    /// The documents that an eager cache may no longer need.
    var evictionCandidates: Set<DocumentPath> = []
    /// The scans under way.
    var scans: [ScanID: CacheScan] = [:]
    var lastScanID: ScanID = 0
    /// True if a query that reads many more documents than its result has gets an index.
    var createsIndexes = false
    /// True if indexes lack entries, or removed ones have some.
    var hasIncompleteIndexes = false

    init(cache: Cache, user: UserID) {
        self.cache = cache
        self.user = user
    }

    /// Documents as the client sees them, `nil` for those that do not exist.
    typealias LocalDocuments = [DocumentPath: LocalDocument?]

    /// Runs `body` in a transaction.
    mutating func transaction<Result>(
        _ body: (inout Cache) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        try cache.transaction(body)
    }

    /// Makes the queue durable.
    mutating func synchronize() throws(StatusError) {
        try cache.synchronize()
    }

    /// Marks documents that an eager cache may no longer need.
    mutating func suggestEviction(of paths: some Sequence<DocumentPath>) {
        if cache.isEager { evictionCandidates.formUnion(paths) }
    }
}

// MARK: Replacing the cache

extension LocalStore {
    /// Returns a store over another cache for the same user and views, without targets.
    func replacement(over cache: Cache) -> LocalStore {
        var replacement = LocalStore(cache: cache, user: user)
        replacement.epochs = epochs
        replacement.viewCounts = viewCounts
        replacement.evictionCandidates = evictionCandidates
        replacement.createsIndexes = createsIndexes
        replacement.lastScanID = lastScanID
        return replacement
    }

    /// Stores those documents as the client sees them that the cache lacks. The server's versions replace them.
    mutating func restore(_ documents: [LocalDocument]) throws(StatusError) {
        guard !documents.isEmpty else { return }
        try transaction { (cache: inout Cache) throws(StatusError) in
            var known = try Set(cache.documents(at: Set(documents.map(\.path))).keys)
            try cache.save(documents.compactMap { known.insert($0.path).inserted ? $0.asRemote : nil })
        }
    }

    /// Returns some documents, and those with local writes.
    mutating func currentDocuments(at paths: Set<DocumentPath>) throws(StatusError) -> LocalDocuments {
        let user = user
        return try transaction { (cache: inout Cache) throws(StatusError) in
            try cache.localDocuments(at: paths.union(cache.queuedPaths(for: user)), for: user)
        }
    }
}

extension LocalDocument {
    /// The document in place of the server's, which is lost; `nil` if the server has none.
    ///
    /// Its local writes may be laid over it once more, which changes nothing.
    fileprivate var asRemote: RemoteDocument? {
        version.map { version in
            RemoteDocument(
                path: path,
                content: .found(fields, createTime: createTime),
                version: version,
                hasCommittedMutations: hasLocalMutations || hasCommittedMutations
            )
        }
    }
}

// MARK: Users

extension LocalStore {
    /// Makes the queue of another user the current one.
    ///
    /// - Returns: The documents that the queues of both write.
    mutating func changeUser(to user: UserID) throws(StatusError) -> LocalDocuments {
        let previous = self.user
        let documents = try transaction { (cache: inout Cache) throws(StatusError) in
            let paths = try cache.queuedPaths(for: user)
            return try cache.localDocuments(at: cache.queuedPaths(for: previous).subtracting(paths), for: user)
                .merging(cache.recomputeOverlays(at: paths, for: user)) { $1 }
        }
        try saveOverlayUser(user)
        self.user = user
        return documents
    }

    /// Computes the overlays anew if they may belong to other documents: those that another user has read, or lost ones.
    mutating func validateOverlays() throws(StatusError) {
        let user = user
        let isStale = try transaction { (cache: inout Cache) throws(StatusError) in
            guard try cache.overlayUser != user else { return false }
            _ = try cache.recomputeOverlays(at: cache.queuedPaths(for: user), for: user)
            return true
        }
        if isStale { try saveOverlayUser(user) }
    }

    /// Records the user after the overlays are stored: a transaction of its own, since they may lie in another file.
    private mutating func saveOverlayUser(_ user: UserID) throws(StatusError) {
        try transaction { (cache: inout Cache) throws(StatusError) in try cache.save(overlayUser: user) }
    }
}

// MARK: Documents

extension LocalStore {
    /// Returns a document as the client sees it.
    mutating func document(at path: DocumentPath) throws(StatusError) -> LocalRead {
        let user = user
        return try transaction { (cache: inout Cache) throws(StatusError) in
            let remote = try cache.documents(at: [path])[path]
            var document = OverlaidDocument(remote, at: path)
            if let overlay = try cache.overlays(at: [path], for: user)[path] { document.apply(overlay) }
            switch document.existence {
            case .found: return document.document.map { .found($0) } ?? .unknown
            case .missing: return .missing
            case .unknown, .uncached: return .unknown
            }
        }
    }
}

extension LocalStore {
    /// Returns documents as the client sees them.
    mutating func documents(at paths: Set<DocumentPath>) throws(StatusError) -> LocalDocuments {
        let user = user
        return try transaction { (cache: inout Cache) throws(StatusError) in try cache.localDocuments(at: paths, for: user) }
    }
}

/// A document as the client sees it, read from the cache.
package enum LocalRead: Hashable, Sendable {
    /// The document.
    case found(LocalDocument)
    /// The document does not exist: the server has said so, or a local write deletes it.
    case missing
    /// Nothing is known of the document.
    case unknown
}

extension LocalCache {
    /// Returns documents as the user sees them.
    func localDocuments(at paths: Set<DocumentPath>, for user: UserID) throws(StatusError) -> [DocumentPath: LocalDocument?] {
        guard !paths.isEmpty else { return [:] }
        let remote = try documents(at: paths)
        let overlays = try overlays(at: paths, for: user)
        var result: [DocumentPath: LocalDocument?] = [:]
        for path in paths {
            var document = OverlaidDocument(remote[path], at: path)
            if let overlay = overlays[path] { document.apply(overlay) }
            result.updateValue(document.document, forKey: path)
        }
        return result
    }

    /// Computes overlays anew from the queue.
    ///
    /// - Returns: The documents with the new overlays.
    mutating func recomputeOverlays(
        at paths: Set<DocumentPath>,
        for user: UserID
    ) throws(StatusError) -> [DocumentPath: LocalDocument?] {
        guard !paths.isEmpty else { return [:] }
        let remote = try documents(at: paths)
        var overlaid: [DocumentPath: (document: OverlaidDocument, batch: BatchNumber)] = [:]
        try visitBatches(affecting: paths, for: user) { (batch) throws(StatusError) in
            for path in batch.paths.intersection(paths) {
                var document = overlaid[path]?.document ?? OverlaidDocument(remote[path], at: path)
                document.apply(batch)
                overlaid[path] = (document, batch.number)
            }
        }
        let overlays = overlaid.values.compactMap { $0.document.overlay(through: $0.batch) }
        try removeOverlays(at: paths, for: user)
        try save(overlays, for: user)
        var result: [DocumentPath: LocalDocument?] = [:]
        for path in paths {
            let document = overlaid[path]?.document ?? OverlaidDocument(remote[path], at: path)
            result.updateValue(document.document, forKey: path)
        }
        return result
    }
}
