package import DocumentModel
package import DocumentStore

/// A frame of a watch stream, before its encoding.
///
/// A stream starts with ``open(epoch:sequence:time:oldest:heartbeat:)``. Unless it is resumed, the initial state follows: for each
/// document a ``change(_:position:)`` without position or a ``damaged(_:)``, then ``current(sequence:count:token:)``. After that
/// come the changes of each commit in commit order, each frame with its ``Position``.
package enum OutgoingWatchFrame: Sendable {
    /// The first frame. `sequence` is the last commit, `time` its time, or `nil` before the first commit, and `oldest` the oldest
    /// retained one.
    case open(epoch: String, sequence: SequenceNumber, time: Timestamp?, oldest: SequenceNumber, heartbeat: Duration)
    /// A document in the target has changed, or, without a position, is part of the initial state.
    indirect case change(Change, position: Position?)
    /// A document in the target cannot be read and is omitted from the initial state. Its file is left untouched.
    case damaged(StatusError)
    /// The initial state is complete as of this commit.
    case current(sequence: SequenceNumber, count: Int, token: ResumeToken)
    /// The heartbeat: the target has had no other changes up to this commit. It carries a resume token and, if known, the number
    /// of documents in the target.
    case heartbeat(sequence: SequenceNumber, count: Int?, token: ResumeToken)
    /// All previous frames are void; the initial state follows.
    case reset(ResetReason)
    /// The last frame: the server closes the stream. The token, if present, resumes it.
    case end(EndReason, token: ResumeToken?)

    /// A change to a document.
    package struct Change: Hashable, Sendable {
        package enum Kind: String, Sendable {
            /// The document has entered the target.
            case added
            /// The document has changed within the target.
            case modified
            /// The document has left the target but still exists.
            case removed
            /// The document was deleted.
            case deleted
        }

        package var kind: Kind
        package var path: DocumentPath
        /// The document as of the commit; `nil` if it was deleted, or if only paths are requested. Also `nil` for a removed document
        /// that the watcher may not read any more, or that a query has left although the commit did not change it, until it is read.
        package var document: EncodedDocument?
        /// The before-image; `nil` if it is not requested or the document did not exist.
        package var before: EncodedDocument?
        /// The previous index in the result of an ordered query, after the previous frames have been applied.
        package var oldIndex: Int?
        /// The new index in the result of an ordered query.
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

    /// The position of a change in the order of all changes.
    package struct Position: Hashable, Sendable {
        /// The sequence number of the commit.
        package var sequence: SequenceNumber
        /// The time of the commit.
        package var time: Timestamp
        /// The number of the change among the commit's changes to the target, starting at 1.
        package var number: Int
        /// The number of the commit's changes to the target.
        package var count: Int
        /// The resume token after the commit, on its last change to the target.
        package var token: ResumeToken?
    }

    /// The reason for a reset.
    package enum ResetReason: String, Sendable {
        /// The commits after the token are no longer retained.
        case expired
        /// The reader has fallen behind the retained commits.
        case lagged
        /// The database was restored or recreated since the token was issued, or has lost the commit of the token.
        case restored
    }

    /// The reason for the end of a stream.
    package enum EndReason: String, Sendable {
        /// The requested duration has passed.
        case timeout
        /// The requested number of changes has been sent.
        case limit
        /// The server is shutting down.
        case shutdown
        /// The watcher's key was revoked or has expired, or its browser session has ended.
        case revoked
        /// The ID token of the watcher has expired. It may continue with a new one.
        case unauthenticated
        /// The watcher has fallen behind the retained commits and has requested to fail instead of being reset.
        case slow
    }
}

extension OutgoingWatchFrame {
    /// Returns the frame with only the requested contents.
    ///
    /// - Parameter omitsRemoved: True if the watcher may not see what a document is after it has left the target.
    func reduced(to contents: WatchRequest.Contents, omitsRemoved: Bool) -> OutgoingWatchFrame {
        guard case .change(var change, let position) = self else { return self }
        if contents == .paths || (omitsRemoved && change.kind == .removed) { change.document = nil }
        if contents != .before { change.before = nil }
        return .change(change, position: position)
    }
}

extension [OutgoingWatchFrame] {
    /// The changes to documents in the frames.
    var changes: [OutgoingWatchFrame.Change] {
        compactMap { frame in
            if case .change(let change, _) = frame { change } else { nil }
        }
    }

    /// The errors of the documents in the frames that cannot be read.
    var damage: [StatusError] {
        compactMap { frame in
            if case .damaged(let error) = frame { error } else { nil }
        }
    }

    /// The frames without those about documents that cannot be read.
    var withoutDamage: [OutgoingWatchFrame] {
        filter { frame in
            if case .damaged = frame { false } else { true }
        }
    }
}
