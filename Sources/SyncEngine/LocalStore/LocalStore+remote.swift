internal import DocumentModel

extension LocalStore {
    /// Stores what the server has told: documents, keys and tokens in one transaction. Without any of them there is none.
    ///
    /// - Returns: The documents that changed.
    mutating func apply(_ event: RemoteEvent) throws(StatusError) -> LocalDocuments {
        let user = user
        var (event, epochs) = (event, epochs)
        epochs.record(event.epoch)
        // Answers to some reads, and those of older servers, do not tell their epoch.
        event.epoch = event.epoch ?? epochs.current
        var position = stream
        if let token = event.token { position.move(to: token, at: event.time) }
        var targets: [CachedTarget] = []
        var saved: [CachedTarget] = []
        for (id, change) in event.targets {
            guard let target = activeTarget(id) else { continue }
            let updated = target.updated(by: change, at: event.time)
            targets.append(updated)
            if updated.isWorthSaving(over: target, change, savedTimes[id]) { saved.append(updated) }
            if event.token != nil, change.isCurrent { position.targets.insert(id) } else { position.targets.remove(id) }
        }
        if event.token != nil, let time = event.time, CachedTarget.isOutdated(position.comparedTime, at: time) {
            position.comparedTime = time
            for id in stream.targets where event.targets[id] == nil && CachedTarget.isOutdated(savedTimes[id], at: time) {
                guard var target = activeTargets[id] else { continue }
                position.move(&target)
                saved.append(target)
            }
        }
        var (removedKeys, documents) = (Set<DocumentPath>(), LocalDocuments())
        if event.hasDocuments || !saved.isEmpty {
            (removedKeys, documents) = try transaction { [event, epochs] (cache: inout Cache) throws(StatusError) in
                var removedKeys: Set<DocumentPath> = []
                let use = saved.isEmpty ? 0 : try cache.nextUse()
                for var target in saved {
                    if let change = event.targets[target.id] {
                        removedKeys.formUnion(try cache.updateKeys(of: target.id, change))
                    }
                    target.lastUse = use
                    try cache.save(target)
                }
                if !removedKeys.isEmpty { try cache.touch(removedKeys, use: use) }
                return (removedKeys, try cache.store(event, in: epochs, for: user))
            }
        }
        self.epochs = epochs
        stream = position
        for target in targets { activeTargets[target.id] = target }
        for target in saved { savedTimes[target.id] = target.snapshotTime }
        recordChanges(of: documents.keys)
        suggestEviction(of: removedKeys)
        suggestEviction(of: documents.keys)
        return documents
    }
}

extension LocalCache {
    /// Changes the documents of a target, and returns those that left it.
    fileprivate mutating func updateKeys(
        of id: TargetID,
        _ change: RemoteEvent.TargetChange
    ) throws(StatusError) -> Set<DocumentPath> {
        var removed = change.removed
        if change.isComplete { removed = try keys(of: id).subtracting(change.added).subtracting(change.modified) }
        let added = change.isComplete ? change.added.union(change.modified) : change.added
        guard !added.isEmpty || !removed.isEmpty else { return [] }
        try updateKeys(of: id, adding: added, removing: removed)
        return removed
    }

    /// Stores those documents that are not outdated, and returns what the user sees of them.
    mutating func store(
        _ event: RemoteEvent,
        in epochs: EpochHistory,
        for user: UserID
    ) throws(StatusError) -> [DocumentPath: LocalDocument?] {
        let received = event.documents.filter { !event.inaccessible.contains($0.path) }
        let cached = try documents(at: Set(received.map(\.path)).union(event.inaccessible))
        var changed: [RemoteDocument] = []
        var flipped: Set<DocumentPath> = []
        for var document in received {
            document.epoch = document.epoch ?? event.epoch
            let known = cached[document.path]
            guard document.replaces(known, in: epochs) || event.contradicts(known, document) else { continue }
            changed.append(document)
            if document.isFound != cached[document.path]?.isFound ?? false { flipped.insert(document.path) }
        }
        try save(changed)
        try removeDocuments(at: event.inaccessible)
        for path in event.inaccessible where cached[path]?.isFound == true { flipped.insert(path) }
        // Documents without local writes are what was received, and need not be read again.
        var visible: [DocumentPath: LocalDocument?] = [:]
        visible.reserveCapacity(changed.count + event.inaccessible.count)
        for document in changed { visible.updateValue(document.local, forKey: document.path) }
        for path in event.inaccessible { visible.updateValue(nil, forKey: path) }
        let queued = try queuedPaths(among: Set(visible.keys), for: user)
        guard !queued.isEmpty else { return visible }
        // An update begins or ceases to apply when its document appears or vanishes.
        flipped.formIntersection(queued)
        let overlays = try overlays(at: flipped, for: user)
        let recomputed = flipped.filter { overlays[$0]?.isPatch ?? true }
        visible.merge(try localDocuments(at: queued.subtracting(recomputed), for: user)) { $1 }
        visible.merge(try recomputeOverlays(at: recomputed, for: user)) { $1 }
        return visible
    }
}

extension RemoteDocument {
    /// The document as the client sees it without local writes; `nil` if there is none.
    fileprivate var local: LocalDocument? {
        guard case .found(let fields, let createTime) = content else { return nil }
        return LocalDocument(
            path: path,
            fields: fields,
            pendingTimestamps: [:],
            createTime: createTime,
            version: version,
            hasLocalMutations: false,
            hasCommittedMutations: hasCommittedMutations
        )
    }
}

extension RemoteEvent {
    /// Returns whether an answer shows that the cached version of a document belongs to a history that the server has lost: it is not
    /// in a later state of the server.
    fileprivate func contradicts(_ cached: RemoteDocument?, _ document: RemoteDocument) -> Bool {
        guard targets.isEmpty, let time, let cached else { return false }
        return document.version < cached.version && cached.version <= time
    }
}

extension CachedTarget {
    fileprivate func updated(by change: RemoteEvent.TargetChange, at time: Timestamp?) -> CachedTarget {
        var target = self
        if change.isReset {
            target.token = nil
            target.snapshotTime = nil
            target.syncedChange = nil
        }
        if let token = change.token {
            target.token = token
            target.snapshotTime = time
        }
        return target
    }

    /// Returns whether the new position must survive a crash now: on first sight, with changes, or after some minutes.
    ///
    /// - Parameter savedTime: The time of the position that the cache has.
    fileprivate func isWorthSaving(
        over previous: CachedTarget,
        _ change: RemoteEvent.TargetChange,
        _ savedTime: Timestamp?
    ) -> Bool {
        if change.hasChanges || change.isReset { return true }
        guard token != previous.token else { return false }
        guard let time = snapshotTime else { return true }
        return Self.isOutdated(savedTime, at: time)
    }

    /// Returns whether the position that the cache has is to be replaced by a later one.
    fileprivate static func isOutdated(_ savedTime: Timestamp?, at time: Timestamp) -> Bool {
        savedTime.map { time.microseconds - $0.microseconds >= maximumTokenAge } ?? true
    }

    /// The age in microseconds at which a saved token is replaced even if nothing else has changed: five minutes.
    private static var maximumTokenAge: Int64 { 300_000_000 }
}
