import DocumentModel
package import DocumentStore

extension StatusError {
    /// The error for a token that can't be resumed from. Its ``oldestSequence`` is that of the oldest commit that is kept.
    static func expired(at position: StorePosition) -> StatusError {
        var error = StatusError(
            .outOfRange,
            "The commits after the token are not kept any more, or are of another history; the oldest kept is "
                + "\(position.oldestKept). Leave the token out to begin anew."
        )
        error.oldestSequence = position.oldestKept.rawValue
        return error
    }
}

extension WatchToken {
    /// The token that a stream which begins at a position goes on after.
    package init(_ target: WatchTarget, at position: StorePosition) {
        self.init(
            target: target,
            database: position.database,
            epoch: position.epoch,
            sequence: position.lastSequence,
            time: position.lastCommitTime ?? .minimum
        )
    }

    /// Why a stream can't go on after this token; nil when it can.
    ///
    /// A data folder that was put back to an earlier state, with the copy that is its backup, goes on with the same numbers for other
    /// commits. By its time a commit is known to be the one that the token names.
    func obstacle(in store: any DocumentStore) async throws(StatusError) -> WatchFrame.ResetReason? {
        let position = store.position
        guard belongs(toEpoch: position.epoch) else { return .restored }
        guard position.canResume(after: sequence) else { return .expired }
        // Of a commit that is no longer kept, nothing is known.
        guard position.oldestKept <= sequence else { return nil }
        do throws(StatusError) {
            var commits = store.commits(after: sequence.previous).makeAsyncIterator()
            guard let commit = try await commits.next() else { return nil }
            return commit.time == time ? nil : .restored
        } catch {
            guard error.code == .outOfRange || error.code == .dataLoss else { throw error }
            return .expired
        }
    }
}
