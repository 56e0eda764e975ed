package import DocumentModel
package import DocumentStore

/// One message of a watch stream.
///
/// A stream begins with ``open(epoch:sequence:oldest:heartbeat:)``. Unless it was resumed, the state follows: one
/// ``change(_:position:)`` without position for each document, or ``damaged(_:)``, and ``current(sequence:count:token:)`` when
/// they are complete.
/// Then come the changes, commit by commit in the order of the commits, each frame with its ``Position``.
package enum WatchFrame: Sendable {
    /// The stream works. `sequence` is the last commit at this moment, `oldest` the oldest one that can be resumed from.
    case open(epoch: String, sequence: SequenceNumber, oldest: SequenceNumber, heartbeat: Duration)
    /// A document of the target has changed. Without a position it is part of the initial state.
    indirect case change(Change, position: Position?)
    /// A document of the target can't be read, and is left out of the initial state; its file stays as it is.
    case damaged(DamagedDocument)
    /// The initial state is complete, as of this commit.
    case current(sequence: SequenceNumber, count: Int, token: WatchToken)
    /// Nothing of the target has changed up to this commit: the sign of life, and a bookmark. With the number of documents of
    /// the target, where it is known.
    case checkpoint(sequence: SequenceNumber, count: Int?, token: WatchToken)
    /// What was sent so far is void; the state follows again.
    case reset(ResetReason)
    /// The last frame: the server ends the stream. The token, when there is one, resumes it.
    case end(EndReason, token: WatchToken?)

    /// What has become of a document.
    package struct Change: Hashable, Sendable {
        package enum Kind: String, Sendable {
            /// It is in the target and was not before.
            case added
            /// It is in the target as before, with other fields.
            case modified
            /// It exists and is no longer in the target.
            case removed
            /// It no longer exists.
            case deleted
        }

        package var kind: Kind
        package var path: DocumentPath
        /// The document; nil when it was removed or deleted, or only its path is wanted.
        package var document: EncodedDocument?
        /// The document as it was; nil when that isn't wanted, or it was not there.
        package var before: EncodedDocument?
        /// Where in the result of a query with an order the document was, once the frames before this one have been heeded.
        package var oldIndex: Int?
        /// Where in the result of a query with an order the document is then.
        package var newIndex: Int?

        package init(
            _ kind: Kind,
            _ path: DocumentPath,
            _ document: EncodedDocument? = nil,
            before: EncodedDocument? = nil,
            oldIndex: Int? = nil,
            newIndex: Int? = nil
        ) {
            self.kind = kind
            self.path = path
            self.document = document
            self.before = before
            self.oldIndex = oldIndex
            self.newIndex = newIndex
        }
    }

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
        /// As many changes were sent as the watcher asked for.
        case limit
        /// The server stops.
        case shutdown
        /// The watcher's key was revoked, or has expired.
        case revoked
        /// The watcher fell so far behind that the commits it needs next are no longer kept, and wants no state in their place.
        case slow
    }
}

extension WatchFrame {
    /// The frame with what is wanted of a document.
    func telling(_ contents: WatchRequest.Contents) -> WatchFrame {
        guard case .change(var change, let position) = self else { return self }
        if contents == .paths { change.document = nil }
        if contents != .before { change.before = nil }
        return .change(change, position: position)
    }
}
