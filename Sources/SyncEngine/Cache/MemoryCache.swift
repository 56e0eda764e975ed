package import DocumentModel
package import UTF8Text

/// A cache that lives as long as the process.
///
/// Its calls never fail, so that a transaction needs no way back. Lookups cost a hash; a query costs the documents of its collections.
package struct MemoryCache: LocalCache {
    /// True if documents are evicted as soon as nothing needs them.
    package let isEager: Bool
    /// The number of the last transaction that saved documents.
    package private(set) var lastChange: ChangeNumber = 0
    /// The user whose overlays belong to the cached documents.
    package private(set) var overlayUser: UserID?
    /// The knowledge of the server's clock.
    package private(set) var serverClock = ServerClock()
    /// The approximate size of the documents in bytes.
    package private(set) var byteCount = 0

    private var documents: [CollectionPath: [DocumentPath.ID: Entry]] = [:]
    private var queues: [UserID: MemoryQueue] = [:]
    private var targets: [TargetID: CachedTarget] = [:]
    private var targetIDs: [SyncTarget: TargetID] = [:]
    private var keys: [TargetID: Set<DocumentPath>] = [:]
    private var targetCounts: [DocumentPath: Int] = [:]
    private var namedQueries: [UTF8Key: NamedQuery] = [:]
    private var lastTargetID: TargetID = 0
    private var lastUse: UseNumber = 0

    private struct Entry {
        var document: RemoteDocument
        var byteCount: Int
        var lastUse: UseNumber
    }

    /// Creates an empty cache.
    package init(isEager: Bool = true) {
        self.isEager = isEager
    }

    /// Runs `body`.
    package mutating func transaction<Result>(
        _ body: (inout Self) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        try body(&self)
    }

    /// Does nothing: the queue ends with the process.
    package func synchronize() {}
}

// MARK: Remote documents

extension MemoryCache {
    /// Returns the cached documents at some paths.
    package func documents(at paths: Set<DocumentPath>) -> [DocumentPath: RemoteDocument] {
        var result: [DocumentPath: RemoteDocument] = [:]
        for path in paths { result[path] = documents[path.collection]?[path.id]?.document }
        return result
    }

    /// Calls `visit` with all existing documents of a source that were saved after a change.
    package func visitDocuments(
        in source: StructuredQuery.Source,
        after change: ChangeNumber,
        from position: ScanPosition?,
        maximumCount: Int,
        selecting selector: DocumentSelector?,
        _ visit: (RemoteDocument) throws(StatusError) -> Void
    ) throws(StatusError) -> (count: Int, position: ScanPosition?) {
        guard case .collection(let collection) = source else {
            var count = 0
            for collection in documents.keys where source.contains(collection) {
                count += try visitDocuments(in: collection, after: change, visit)
            }
            return (count, nil)
        }
        return (try visitDocuments(in: collection, after: change, visit), nil)
    }

    private func visitDocuments(
        in collection: CollectionPath,
        after change: ChangeNumber,
        _ visit: (RemoteDocument) throws(StatusError) -> Void
    ) throws(StatusError) -> Int {
        var count = 0
        for entry in documents[collection, default: [:]].values where entry.document.isFound && entry.document.change > change {
            count += 1
            try visit(entry.document)
        }
        return count
    }

    /// Saves documents with the next change number.
    package mutating func save(_ documents: [RemoteDocument]) {
        guard !documents.isEmpty else { return }
        lastChange += 1
        for document in documents {
            var document = document
            document.change = lastChange
            let path = document.path
            let entry = Entry(document: document, byteCount: document.byteCount, lastUse: lastUse)
            let previous = self.documents[path.collection, default: [:]].updateValue(entry, forKey: path.id)
            byteCount += entry.byteCount - (previous?.byteCount ?? 0)
        }
    }

    /// Removes documents.
    package mutating func removeDocuments(at paths: Set<DocumentPath>) {
        for path in paths {
            guard let entry = documents[path.collection]?.removeValue(forKey: path.id) else { continue }
            byteCount -= entry.byteCount
            if documents[path.collection]?.isEmpty == true { documents[path.collection] = nil }
        }
    }
}

// MARK: Queue and overlays

extension MemoryCache {
    /// Returns the state of a user's queue.
    package mutating func queueState(for user: UserID) -> QueueState {
        // It keeps the identity that it is given here.
        queues[user, default: MemoryQueue()].state
    }

    /// Appends a batch to a user's queue, with the next number.
    package mutating func appendBatch(
        _ writes: [Write],
        baseValues: [MutationBatch.BaseValue],
        at localTime: Timestamp,
        for user: UserID
    ) -> MutationBatch {
        queues[user, default: MemoryQueue()].append(writes, baseValues: baseValues, at: localTime)
    }

    /// Returns the first batch after a number; `nil` if there is none.
    package func batch(after number: BatchNumber, for user: UserID) -> MutationBatch? {
        queues[user]?.batch(after: number)
    }

    /// Calls `visit` with the batches that write some of the documents, in order of their numbers.
    package func visitBatches(
        affecting paths: Set<DocumentPath>,
        for user: UserID,
        _ visit: (MutationBatch) throws(StatusError) -> Void
    ) throws(StatusError) {
        for batch in queues[user]?.batches(affecting: paths) ?? [] { try visit(batch) }
    }

    /// Returns the documents that a user's queued batches write.
    package func queuedPaths(for user: UserID) -> Set<DocumentPath> {
        queues[user]?.paths ?? []
    }

    /// Returns those of the documents that a user's queued batches write.
    package func queuedPaths(among paths: Set<DocumentPath>, for user: UserID) -> Set<DocumentPath> {
        guard let queue = queues[user], !queue.isEmpty else { return [] }
        return paths.filter { queue.writes($0) }
    }

    /// Records that batches may have been sent, up to a number.
    package mutating func recordSent(through number: BatchNumber, for user: UserID) {
        queues[user]?.recordSent(through: number)
    }

    /// Replaces the identity of a user's queue.
    package mutating func save(_ identity: QueueIdentity, for user: UserID) {
        queues[user]?.save(identity)
    }

    /// Removes a batch, and records that it is decided.
    package mutating func removeBatch(_ number: BatchNumber, for user: UserID) {
        queues[user]?.remove(number)
    }

    /// Adds a rejected batch to those that the application has not seen.
    package mutating func append(_ rejected: RejectedBatch, for user: UserID) {
        queues[user, default: MemoryQueue()].append(rejected)
    }

    /// Returns the rejected batches that the application has not seen, in order of their numbers.
    package func rejectedBatches(for user: UserID) -> [RejectedBatch] {
        queues[user]?.rejected ?? []
    }

    /// Removes a rejected batch, which the application has seen.
    package mutating func removeRejectedBatch(_ number: BatchNumber, for user: UserID) {
        queues[user]?.removeRejected(number)
    }

    /// Returns a user's overlays of some documents.
    package func overlays(at paths: Set<DocumentPath>, for user: UserID) -> [DocumentPath: Overlay] {
        guard let overlays = queues[user]?.overlays, !overlays.isEmpty else { return [:] }
        var result: [DocumentPath: Overlay] = [:]
        for path in paths { result[path] = overlays[path] }
        return result
    }

    /// Returns a user's overlays of the documents of a source.
    package func overlays(in source: StructuredQuery.Source, for user: UserID) -> [DocumentPath: Overlay] {
        queues[user]?.overlays.filter { source.contains($0.key) } ?? [:]
    }

    /// Saves overlays.
    package mutating func save(_ overlays: [Overlay], for user: UserID) {
        for overlay in overlays { queues[user, default: MemoryQueue()].overlays[overlay.path] = overlay }
    }

    /// Removes overlays.
    package mutating func removeOverlays(at paths: Set<DocumentPath>, for user: UserID) {
        for path in paths { queues[user]?.overlays[path] = nil }
    }

    /// Records whose overlays belong to the cached documents.
    package mutating func save(overlayUser: UserID) {
        self.overlayUser = overlayUser
    }
}

// MARK: The server's clock

extension MemoryCache {
    /// Saves the knowledge of the server's clock.
    package mutating func save(_ clock: ServerClock) {
        serverClock = clock
    }
}

// MARK: Named queries

extension MemoryCache {
    /// Returns a named query; `nil` if there is none with the name.
    package func namedQuery(_ name: UTF8Key) -> NamedQuery? {
        namedQueries[name]
    }

    /// Saves a named query in place of another one with its name.
    package mutating func save(_ query: NamedQuery) {
        namedQueries[query.name] = query
    }
}

// MARK: Targets

extension MemoryCache {
    /// Returns a cached target.
    package func target(_ target: SyncTarget) -> CachedTarget? {
        targetIDs[target].flatMap { targets[$0] }
    }

    /// Adds a target.
    package mutating func addTarget(_ target: SyncTarget) -> CachedTarget {
        lastTargetID += 1
        let cached = CachedTarget(id: lastTargetID, target: target, lastUse: nextUse())
        targetIDs[target] = cached.id
        targets[cached.id] = cached
        return cached
    }

    /// Saves the state of a target.
    package mutating func save(_ target: CachedTarget) {
        targets[target.id] = target
    }

    /// Removes a target and its keys.
    package mutating func removeTarget(_ id: TargetID) {
        updateKeys(of: id, adding: [], removing: keys(of: id))
        keys[id] = nil
        if let target = targets.removeValue(forKey: id) { targetIDs[target.target] = nil }
    }

    /// Returns the documents of a target.
    package func keys(of id: TargetID) -> Set<DocumentPath> {
        keys[id] ?? []
    }

    /// Adds documents to a target, and removes others.
    package mutating func updateKeys(
        of id: TargetID,
        adding added: Set<DocumentPath>,
        removing removed: Set<DocumentPath>
    ) {
        for path in removed where keys[id]?.remove(path) != nil {
            guard let count = targetCounts[path] else { continue }
            targetCounts[path] = count > 1 ? count - 1 : nil
        }
        for path in added where keys[id, default: []].insert(path).inserted {
            targetCounts[path, default: 0] += 1
        }
    }
}

// MARK: Eviction

extension MemoryCache {
    /// Returns the next number of a use.
    package mutating func nextUse() -> UseNumber {
        lastUse += 1
        return lastUse
    }

    /// Records the last use of documents.
    package mutating func touch(_ paths: Set<DocumentPath>, use: UseNumber) {
        for path in paths { documents[path.collection]?[path.id]?.lastUse = use }
    }

    /// Returns those of the documents that are in no target and in no queue.
    package func unreferenced(_ paths: Set<DocumentPath>) -> Set<DocumentPath> {
        paths.filter { path in targetCounts[path] == nil && !queues.values.contains { $0.writes(path) } }
    }

    /// Returns the use number up to which the given part of the targets and unreferenced documents was last used.
    package func useNumber(atFraction fraction: Double, maximumCount: Int) -> UseNumber? {
        var uses = targets.values.map(\.lastUse)
        for collection in documents {
            for (id, entry) in collection.value where isUnreferenced(collection.key.document(id)) { uses.append(entry.lastUse) }
        }
        let count = min(Int(Double(uses.count) * fraction), maximumCount)
        guard count > 0 else { return nil }
        return uses.sorted()[count - 1]
    }

    /// Returns the targets that were last used at or before a use.
    package func targets(usedThrough use: UseNumber) -> [TargetID] {
        targets.values.filter { $0.lastUse <= use }.map(\.id)
    }

    /// Returns the unreferenced documents that were last used at or before a use.
    package func unreferencedDocuments(usedThrough use: UseNumber) -> Set<DocumentPath> {
        var result: Set<DocumentPath> = []
        for (collection, entries) in documents {
            for (id, entry) in entries where entry.lastUse <= use {
                let path = collection.document(id)
                if isUnreferenced(path) { result.insert(path) }
            }
        }
        return result
    }

    private func isUnreferenced(_ path: DocumentPath) -> Bool {
        !unreferenced([path]).isEmpty
    }
}

extension StructuredQuery.Source {
    /// Returns whether the documents of a collection are in the source.
    fileprivate func contains(_ collection: CollectionPath) -> Bool {
        switch self {
        case .collection(let other): collection == other
        case .collectionGroup(let id, nil): collection.id == id
        case .descendants(nil): true
        case .collectionGroup, .descendants:
            (try? DocumentPath.ID("a")).map { contains(collection.document($0)) } ?? false
        }
    }
}
