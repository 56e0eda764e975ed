package import DocumentModel
package import DocumentStore

/// One message of a watch stream.
///
/// A stream begins with ``open(epoch:sequence:oldest:heartbeat:)``. Unless it was resumed, the state follows: one
/// ``added(_:position:)`` without position for each document, or ``damaged(_:)``, and ``current(sequence:count:token:)`` when
/// they are complete.
/// Then come the changes, commit by commit in the order of the commits, each frame with its ``Position``.
package enum WatchFrame: Sendable {
    /// The stream works. `sequence` is the last commit at this moment, `oldest` the oldest one that can be resumed from.
    case open(epoch: String, sequence: SequenceNumber, oldest: SequenceNumber, heartbeat: Duration)
    /// A document is in the target that was not before. Without a position it is part of the initial state.
    case added(EncodedDocument, position: Position?)
    /// A document of the target can't be read, and is left out of the initial state; its file stays as it is.
    case damaged(DamagedDocument)
    /// A document of the target has changed.
    case modified(EncodedDocument, position: Position)
    /// A document of the target no longer exists.
    case deleted(DocumentPath, position: Position)
    /// The initial state is complete, as of this commit.
    case current(sequence: SequenceNumber, count: Int, token: WatchToken)
    /// Nothing of the target has changed up to this commit: the sign of life, and a bookmark.
    case checkpoint(sequence: SequenceNumber, token: WatchToken)
    /// What was sent so far is void; the state follows again.
    case reset(ResetReason)
    /// The last frame: the server ends the stream. The token, when there is one, resumes it.
    case end(EndReason, token: WatchToken?)

    /// Where a change stands in the order of all changes.
    package struct Position: Hashable, Sendable {
        /// The commit that made the change.
        package var sequence: SequenceNumber
        /// The commit's time.
        package var time: Timestamp
        /// The change's number among the commit's changes to the target, from 1.
        package var number: Int
        /// How many changes the commit made to the target.
        package var count: Int
        /// On the commit's last change to the target: resuming with it goes on after this commit.
        package var token: WatchToken?
    }

    /// Why a stream begins anew.
    package enum ResetReason: String, Sendable {
        /// The token is of a time whose commits are no longer kept, or has not been yet.
        case expired
        /// The reader fell so far behind that the commits it needs next are no longer kept.
        case lagged
        /// The database was restored or made anew since the token was given.
        case restored
    }

    /// Why a stream ends.
    package enum EndReason: String, Sendable {
        /// The time that the watcher asked for is over.
        case timeout
        /// The server stops.
        case shutdown
        /// The watcher's key was revoked, or has expired.
        case revoked
    }
}
