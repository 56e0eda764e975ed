import DocumentModel
import DocumentStore

extension QueryWatch {
    /// How many documents a result with an order may have.
    private static let maximumResultCount = 100_000

    /// Takes the next commit of the log, and gives what it changes for the watcher; nil where ``takeRanked(_:from:)`` is to.
    mutating func take(_ commit: Commit) throws(StatusError) -> [WatchFrame]? {
        let changes = changes(of: commit)
        guard changes.isEmpty || result == nil else { return nil }
        sequence = commit.sequence
        time = commit.time
        let told = try unranked(changes)
        return try frames(of: commit, telling: told)
    }

    /// Takes the next commit of the log into a result with an order, and gives what it changes for the watcher.
    mutating func takeRanked(_ commit: Commit, from store: any DocumentStore) async throws(StatusError) -> [WatchFrame] {
        sequence = commit.sequence
        time = commit.time
        let told = try await ranked(changes(of: commit), in: store)
        return try frames(of: commit, telling: told)
    }

    private func changes(of commit: Commit) -> [DocumentChange] {
        commit.changes.filter { watched.query.source.contains($0.path) }
    }

    private func frames(of commit: Commit, telling changes: [WatchFrame.Change]) throws(StatusError) -> [WatchFrame] {
        guard !changes.isEmpty else { return [] }
        var told = changes
        for index in told.indices {
            told[index].document = try told[index].document.map { document throws(StatusError) in try watched.shaped(document) }
            told[index].before = try told[index].before.map { document throws(StatusError) in try watched.shaped(document) }
        }
        return commit.frames(told, token: bookmark)
    }

    private mutating func unranked(_ changes: [DocumentChange]) throws(StatusError) -> [WatchFrame.Change] {
        var told: [WatchFrame.Change] = []
        for change in changes {
            let wasIn = try change.before.map { document throws(StatusError) in try watched.key(of: document) != nil } ?? false
            let isIn = try change.after.map { document throws(StatusError) in try watched.key(of: document) != nil } ?? false
            switch (wasIn, isIn) {
            case (false, false): continue
            case (false, true): told.append(WatchFrame.Change(.added, change.path, change.after))
            case (true, true): told.append(WatchFrame.Change(.modified, change.path, change.after, before: change.before))
            case (true, false): told.append(WatchFrame.Change(change.leaving, change.path, before: change.before))
            }
            count = count.map { $0 + (isIn ? 1 : 0) - (wasIn ? 1 : 0) }
        }
        return told
    }

    private mutating func ranked(
        _ changes: [DocumentChange],
        in store: any DocumentStore
    ) async throws(StatusError) -> [WatchFrame.Change] {
        guard let old = result, watched.query.limit != 0 else { return [] }
        var new = old
        var touched = RankedChanges(changes)
        for change in changes where new.remove(change.path) != nil { touched.paths.insert(change.path) }
        for change in changes {
            guard let document = change.after, let key = try watched.key(of: document) else { continue }
            new.insert(change.path, key)
            touched.paths.insert(change.path)
        }
        if old.mayHaveHidden(from: new), !touched.paths.isEmpty || watched.query.offset > 0 {
            let (found, answer) = try await run(in: store)
            new = found
            touched.paths.formUnion(old.paths)
            touched.paths.formUnion(found.paths)
            touched.take(answer.documents)
        } else {
            touched.paths.formUnion(new.cut())
        }
        guard new.count <= Self.maximumResultCount else {
            throw StatusError(
                .resourceExhausted,
                "The result has grown beyond the \(Self.maximumResultCount) documents that can be watched in order. Watch with a "
                    + "limit, or without an order."
            )
        }
        result = new
        count = new.count
        return touched.told(from: old, to: new)
    }
}

extension DocumentChange {
    /// What becomes of a document that leaves a result by this change.
    var leaving: WatchFrame.Change.Kind { after == nil ? .deleted : .removed }
}
