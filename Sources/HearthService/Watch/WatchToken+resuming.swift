import DocumentModel
package import DocumentStore

extension StatusError {
    /// The error for a token that can't be resumed from.
    static func expired(at position: StorePosition) -> StatusError {
        StatusError(
            .outOfRange,
            "The commits after the token are not kept any more, or are of another history; the oldest kept is "
                + "\(position.oldestKept). Leave the token out to begin anew."
        )
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

    /// Why the stream can't go on after this token.
    func obstacle(at position: StorePosition) -> WatchFrame.ResetReason? {
        if !belongs(toEpoch: position.epoch) {
            .restored
        } else if !position.canResume(after: sequence) {
            .expired
        } else {
            nil
        }
    }
}
