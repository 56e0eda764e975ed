internal import DocumentModel

/// The result of a query, merged from the server's documents and local writes.
struct View {
    let query: ViewQuery
    private(set) var result = SortedResult()
    private var keys: [DocumentPath: ViewSortKey] = [:]
    /// The documents that the server counts to the target.
    private(set) var targetKeys: Set<DocumentPath>
    /// The documents in the result that the server does not count to the target, without a local write that would explain it.
    private(set) var limbo: Set<DocumentPath> = []
    /// True if the target is up to date with the server.
    private(set) var isCurrent = false
    private var pendingPaths: Set<DocumentPath> = []
    private var isSynced: Bool?
    /// The changes since the last snapshot, while the result lacks documents; otherwise `nil`.
    private var held: HeldChanges?

    init(_ query: ViewQuery, targetKeys: Set<DocumentPath>) {
        self.query = query
        self.targetKeys = targetKeys
    }

    /// The changes of a result that is not shown before it is complete.
    private struct HeldChanges {
        /// The result on show.
        let result: SortedResult
        /// The pending documents on show.
        let pendingPaths: Set<DocumentPath>
        var changes = ViewChangeSet()
        var hasCachedResult = false
    }

    /// A result to be applied.
    struct Update {
        fileprivate(set) var result: SortedResult
        /// The sort keys of the documents that changed, `nil` for those that left the result.
        fileprivate var changedKeys: [DocumentPath: ViewSortKey?] = [:]
        fileprivate(set) var changes = ViewChangeSet()
        fileprivate(set) var pendingPaths: Set<DocumentPath>
        /// True if the cache may have documents that belong into the result instead of others that left it.
        fileprivate(set) var needsRefill = false
        fileprivate var released: Set<DocumentPath> = []
        fileprivate var withdrawn: Set<DocumentPath> = []
    }

    /// The consequences of an update.
    struct Outcome {
        /// The new snapshot; `nil` if nothing changed.
        let snapshot: ViewSnapshot?
        /// The documents that are in limbo from now on.
        let enteredLimbo: Set<DocumentPath>
        /// The documents that are no longer in limbo.
        let leftLimbo: Set<DocumentPath>

        fileprivate static let none = Outcome(snapshot: nil, enteredLimbo: [], leftLimbo: [])
    }

    /// True while the result lacks documents that the cache may have. There are no snapshots until ``refill(with:)``.
    var needsRefill: Bool { held != nil }

    /// The documents on show.
    var shownDocuments: [LocalDocument] { visibleDocuments(of: held?.result ?? result) }
}

// MARK: Computing

extension View {
    /// An update that changes nothing.
    var unchanged: Update { Update(result: result, pendingPaths: pendingPaths) }

    /// Computes the result after changes of documents.
    ///
    /// - Parameters:
    ///   - documents: The documents, `nil` for those that do not exist.
    ///   - released: Those whose acknowledged writes the target has passed, so that it will not deliver them any more.
    ///   - withdrawn: Those whose local writes are withdrawn, so that they must not stay on show.
    func update(
        for documents: [DocumentPath: LocalDocument?],
        releasing released: Set<DocumentPath> = [],
        withdrawing withdrawn: Set<DocumentPath> = []
    ) -> Update {
        var update = unchanged
        update.released = released
        update.withdrawn = withdrawn
        let old = update.result
        let edge = old.count == query.targetLimit ? old.last?.key : nil
        var removed: [SortedResult.Element] = []
        var inserted: [SortedResult.Element] = []
        for (path, document) in documents where query.target.covers(path) {
            let oldElement = keys[path].map { old.element($0, in: query) }
            let newElement = document.flatMap { document in
                query.match(document).map { SortedResult.Element(key: $0, document: document) }
            }
            guard let kind = kind(of: oldElement, newElement, at: path, in: update) else { continue }
            if let oldElement { removed.append(oldElement) }
            update.changedKeys.updateValue(newElement?.key, forKey: path)
            if let newElement {
                inserted.append(newElement)
                if isPending(newElement.document, in: update) {
                    update.pendingPaths.insert(path)
                } else {
                    update.pendingPaths.remove(path)
                }
            } else {
                update.pendingPaths.remove(path)
            }
            if let edge, kind != .added, newElement.map({ query.precedes(edge, $0.key) }) ?? true { update.needsRefill = true }
            if let document = newElement?.document ?? oldElement?.document {
                update.changes.add(
                    ViewChangeSet.Change(kind: kind, document: document, oldKey: oldElement?.key, newKey: newElement?.key)
                )
            }
        }
        update.result.update(removing: removed, inserting: inserted, in: query)
        // All documents of the cache up to the edge are known: if there are still enough of them, none is missing.
        if update.needsRefill, let edge, let limit = query.targetLimit, update.result.count >= limit,
            !query.precedes(edge, update.result.keys[limit - 1])
        {
            update.needsRefill = false
        }
        update.cut(to: query.targetLimit)
        return update
    }

    /// Returns the kind of a document's change; `nil` if there is nothing to show.
    private func kind(
        of old: SortedResult.Element?,
        _ new: SortedResult.Element?,
        at path: DocumentPath,
        in update: Update
    ) -> ViewSnapshot.Change.Kind? {
        switch (old?.document, new?.document) {
        case (nil, nil):
            return nil
        case (nil, _?):
            return .added
        case (_?, nil):
            return .removed
        case (let old?, let new?) where !old.hasSameData(as: new):
            // The stream will deliver what the acknowledgement told. Until then the local write stays on show.
            let isAcknowledgement = old.hasLocalMutations && new.hasCommittedMutations && !new.hasLocalMutations
            let isHeld = isAcknowledgement && !update.released.contains(path) && !update.withdrawn.contains(path)
            return isHeld ? nil : .modified
        case (_?, let new?):
            return update.pendingPaths.contains(path) == isPending(new, in: update) ? nil : .metadata
        }
    }

    /// Returns whether a document is pending: acknowledged writes count only if this view saw them being made.
    private func isPending(_ document: LocalDocument, in update: Update) -> Bool {
        if document.hasLocalMutations { return true }
        let isHeld = update.pendingPaths.contains(document.path) && !update.released.contains(document.path)
        return document.hasCommittedMutations && isHeld
    }

    /// Returns whether the view shows a document as pending.
    func isPending(_ path: DocumentPath) -> Bool {
        pendingPaths.contains(path)
    }
}

extension View.Update {
    fileprivate mutating func cut(to limit: Int?) {
        guard let limit else { return }
        while result.count > limit, let last = result.last {
            result.removeLast()
            changedKeys.updateValue(nil, forKey: last.document.path)
            pendingPaths.remove(last.document.path)
            changes.add(ViewChangeSet.Change(kind: .removed, document: last.document, oldKey: last.key, newKey: nil))
        }
    }
}

// MARK: Applying

extension View {
    /// Replaces the result, and the state of the target if that has changed. If the result needs a refill, there is no snapshot before it.
    ///
    /// - Parameters:
    ///   - tracksLimbo: False to leave the documents in limbo as they are.
    ///   - hasCachedResult: True if the cache knows an earlier result of the target.
    mutating func apply(
        _ update: Update,
        target: RemoteEvent.TargetChange? = nil,
        tracksLimbo: Bool = true,
        hasCachedResult: Bool = false
    ) -> Outcome {
        let old = result
        let oldLimbo = limbo
        let wasCurrent = isCurrent
        if update.needsRefill, held == nil { held = HeldChanges(result: result, pendingPaths: pendingPaths) }
        (result, pendingPaths) = (update.result, update.pendingPaths)
        for (path, key) in update.changedKeys { keys[path] = key }
        let oldTargetKeys = target?.isComplete == true ? targetKeys : []
        if let target { apply(target) }
        if held != nil {
            held?.changes.add(update.changes)
            held?.hasCachedResult = hasCachedResult
            return .none
        }
        if tracksLimbo, isCurrent {
            if wasCurrent {
                let moved = target.map { movedKeys(by: $0, from: oldTargetKeys) } ?? []
                updateLimbo(moved.union(update.changes.changes.keys))
            } else {
                updateLimbo(nil)
            }
        }
        return outcome(of: update.changes, since: old, oldLimbo, hasCachedResult: hasCachedResult)
    }

    /// Completes a result that needs a refill.
    ///
    /// - Parameter documents: The documents of the query in the cache: all, or at least those within the limit.
    mutating func refill(with documents: [DocumentPath: LocalDocument?]) -> Outcome {
        guard let held else { return .none }
        let update = update(for: documents)
        self.held = nil
        (result, pendingPaths) = (update.result, update.pendingPaths)
        for (path, key) in update.changedKeys { keys[path] = key }
        let oldLimbo = limbo
        if isCurrent { updateLimbo(nil) }
        var changes = held.changes
        changes.add(update.changes)
        // Documents that had changed may have changed back.
        changes.classify { change in
            guard let oldKey = change.oldKey, change.newKey != nil else { return change.kind }
            let old = held.result.element(oldKey, in: query).document
            guard old.hasSameData(as: change.document) else { return .modified }
            return held.pendingPaths.contains(old.path) == pendingPaths.contains(old.path) ? nil : .metadata
        }
        return outcome(of: changes, since: held.result, oldLimbo, hasCachedResult: held.hasCachedResult)
    }

    /// Returns the consequences of changes that have been applied.
    ///
    /// - Parameters:
    ///   - old: The result before the changes.
    ///   - oldLimbo: The documents in limbo before the changes.
    private mutating func outcome(
        of changes: ViewChangeSet,
        since old: SortedResult,
        _ oldLimbo: Set<DocumentPath>,
        hasCachedResult: Bool
    ) -> Outcome {
        let isSynced = isCurrent && limbo.isEmpty
        let isSyncStateChanged = isSynced != self.isSynced
        self.isSynced = isSynced
        let changes = visibleChanges(changes, old)
        var snapshot: ViewSnapshot?
        if !changes.isEmpty || isSyncStateChanged {
            snapshot = makeSnapshot(changes, isSyncStateChanged: isSyncStateChanged, hasCachedResult: hasCachedResult)
        }
        return Outcome(
            snapshot: snapshot,
            enteredLimbo: limbo.subtracting(oldLimbo),
            leftLimbo: oldLimbo.subtracting(limbo)
        )
    }

    /// Marks the view as not up to date, since the client is offline.
    mutating func goOffline() -> Outcome {
        isCurrent = false
        return apply(unchanged, tracksLimbo: false)
    }

    /// Returns a snapshot of the result as it is, without changes.
    func snapshot(hasCachedResult: Bool) -> ViewSnapshot {
        makeSnapshot([], isSyncStateChanged: false, hasCachedResult: hasCachedResult)
    }

    private mutating func apply(_ target: RemoteEvent.TargetChange) {
        isCurrent = target.isCurrent
        if target.isComplete {
            targetKeys = target.modified.isEmpty ? target.added : target.added.union(target.modified)
        } else {
            targetKeys.subtract(target.removed)
            targetKeys.formUnion(target.added)
        }
    }

    /// Returns the documents whose membership a change of the target has changed.
    private func movedKeys(by target: RemoteEvent.TargetChange, from oldKeys: Set<DocumentPath>) -> Set<DocumentPath> {
        target.isComplete ? targetKeys.symmetricDifference(oldKeys) : target.added.union(target.removed)
    }

    /// Determines which documents are in limbo, among the candidates or all.
    private mutating func updateLimbo(_ candidates: Set<DocumentPath>?) {
        guard let candidates else {
            limbo = Set(result.documents.filter(isInLimbo).map(\.path))
            return
        }
        for path in candidates {
            if let key = keys[path], isInLimbo(result.element(key, in: query).document) {
                limbo.insert(path)
            } else {
                limbo.remove(path)
            }
        }
    }

    private func isInLimbo(_ document: LocalDocument) -> Bool {
        !document.hasLocalMutations && !targetKeys.contains(document.path)
    }
}

// MARK: Snapshots

extension View {
    private func makeSnapshot(
        _ changes: [ViewSnapshot.Change],
        isSyncStateChanged: Bool,
        hasCachedResult: Bool
    ) -> ViewSnapshot {
        let visible = visibleDocuments(of: result)
        return ViewSnapshot(
            query: query,
            documents: visible,
            changes: changes,
            pendingPaths: query.normalized.offset == 0 ? pendingPaths : pendingPaths.intersection(visible.lazy.map(\.path)),
            isFromCache: isSynced != true,
            isSyncStateChanged: isSyncStateChanged,
            hasCachedResult: hasCachedResult
        )
    }

    /// Returns the documents of a result in the order of the query, without those that its offset skips.
    private func visibleDocuments(of result: SortedResult) -> [LocalDocument] {
        let offset = query.normalized.offset
        let documents = offset == 0 ? result.documents : Array(result.documents.dropFirst(offset))
        return query.isReversed ? documents.reversed() : documents
    }

    /// Returns the changes of the documents on show. An offset hides some, and shows or hides others in exchange.
    private func visibleChanges(_ changes: ViewChangeSet, _ old: SortedResult) -> [ViewSnapshot.Change] {
        let offset = query.normalized.offset
        if old.count <= offset {
            return visibleDocuments(of: result).enumerated().map { .init(addedAt: $0, $1) }
        }
        guard offset > 0 else { return changes.replayed(over: old.keys, in: query) }
        let oldKeys = Array(old.keys.dropFirst(offset))
        let shown = Dictionary(uniqueKeysWithValues: zip(old.documents, old.keys).dropFirst(offset).map { ($0.path, ($0, $1)) })
        var hidden = shown
        var visible = ViewChangeSet()
        for (document, key) in zip(result.documents, result.keys).dropFirst(offset) {
            let previous = hidden.removeValue(forKey: document.path)
            if let change = changes.changes[document.path], previous != nil {
                visible.add(
                    ViewChangeSet.Change(kind: change.kind, document: document, oldKey: change.oldKey, newKey: key)
                )
            } else if previous == nil {
                visible.add(ViewChangeSet.Change(kind: .added, document: document, oldKey: nil, newKey: key))
            }
        }
        for (document, key) in hidden.values {
            visible.add(ViewChangeSet.Change(kind: .removed, document: document, oldKey: key, newKey: nil))
        }
        return visible.replayed(over: oldKeys, in: query)
    }
}
