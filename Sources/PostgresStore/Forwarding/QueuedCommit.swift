internal import DocumentModel
internal import DocumentStore

/// A commit that waits for a transaction of the engine.
struct QueuedCommit: Sendable {
    let request: CommitRequest
    /// The origin of a commit that another server has forwarded; `nil` for one of this server.
    var origin: Origin?
    /// The last commit that the reads of the commit have seen, if this server knew no more of it; `nil` if its log tells as much.
    var readAnchor: LogAnchor?
    /// The token under which the commit was forwarded to a server that has not made it; `nil` if it was not forwarded. This server makes
    /// it under the same token, so that the other one cannot make it as well.
    var forwardedToken: [UInt8]?

    /// The conditions under which a forwarded commit may be made.
    ///
    /// The server that has forwarded it makes it itself if it gets no answer. Before, it looks for the commit by its token and begins
    /// the next term, under the lock of the database. So a commit of an earlier term is not made any more.
    struct Origin: Sendable {
        /// The version of the tables that its server knows.
        let version: Int64
        /// The identity of the commit, by which it is found when the answer was lost.
        let token: [UInt8]
        /// The term of the lease in which it was forwarded.
        let term: Int64
        /// The last commit that its server has known, after which the commit is; `nil` before the first.
        let anchor: LogAnchor?
    }
}

/// The cause of an error of a forwarded commit that was not made, and not refused either: its server makes it itself.
struct ForwardedCommitNotMade: Error {
    /// The error of a commit that is not made under the lease, as of which it was forwarded.
    static let lease = StatusError(
        .unavailable,
        "The commit was forwarded under another lease, and is not made.",
        cause: ForwardedCommitNotMade()
    )

    /// The error of a commit that was made before.
    static var duplicate: StatusError {
        var error = StatusError(.unavailable, "The commit was made before.", cause: ForwardedCommitNotMade())
        error.isOutcomeUnknown = true
        return error
    }
}
