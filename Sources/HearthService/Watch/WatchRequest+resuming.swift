import DocumentModel
import DocumentStore

extension WatchRequest {
    /// Makes sure that the stream can begin: that its token is of its target, and can be resumed from where it is to fail otherwise.
    func check(in store: any DocumentStore) async throws(StatusError) {
        guard let resume else { return }
        let position = store.position
        guard resume.belongs(to: target, in: position.database) else {
            throw StatusError(
                .invalidArgument,
                "The token was given for another target, or in another database. Watch without it to begin anew."
            )
        }
        if onExpired == .fail, try await resume.obstacle(in: store) != nil {
            throw .expired(at: position)
        }
    }
}

extension WatchRequest {
    /// The token that a stream begins after which begins with the next change.
    func tokenForStart(at position: StorePosition) -> WatchToken? {
        guard case .now = start else { return nil }
        return WatchToken(target, at: position)
    }

    /// Whether a commit has what its documents were before, where that is wanted.
    func isComplete(_ commit: Commit) -> Bool {
        !commit.changes.contains(where: lacksPast)
    }

    /// A commit with what its documents were before, where that is wanted.
    ///
    /// Read as of a moment before the commit where it is not at hand.
    func completed(_ commit: Commit, from store: any DocumentStore) async throws(StatusError) -> Commit {
        guard !isComplete(commit) else { return commit }
        var changes = commit.changes
        for (index, change) in changes.enumerated() where lacksPast(change) {
            let time = try Timestamp(microseconds: commit.time.microseconds - 1)
            changes[index] = DocumentChange(
                path: change.path,
                before: try await store.document(at: change.path, readTime: time),
                after: change.after,
                existedBefore: true
            )
        }
        return Commit(sequence: commit.sequence, time: commit.time, author: commit.author, changes: changes)
    }

    private func lacksPast(_ change: DocumentChange) -> Bool {
        guard change.before == nil, change.existedBefore, contents == .before || target.needsPastDocuments else { return false }
        return target.contains(change.path)
    }
}

extension WatchTarget {
    /// Whether only what a document was tells whether it was in the target.
    fileprivate var needsPastDocuments: Bool {
        if case .query(let watched) = self { !watched.isRanked } else { false }
    }
}
