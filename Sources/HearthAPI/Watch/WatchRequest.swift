import DocumentModel
import DocumentStore
package import JSONRPC
import UTF8Text

/// A request for a watch stream.
package struct WatchRequest: Sendable {
    package var target: PreparedWatchTarget
    /// The token to resume after; takes precedence over ``start``.
    package var resume: ResumeToken?
    /// The start of a stream without a token.
    package var start: Start
    /// The contents of change frames.
    package var contents: Contents
    /// True if commits are coalesced for a watcher that has fallen behind.
    package var coalesces: Bool
    /// The number of changes after which the stream ends, at the end of a commit; `nil` for no limit.
    package var limit: Int?
    /// The behavior if the commits after ``resume`` are no longer retained.
    package var onExpired: ExpiredPolicy
    /// The time without frames after which a heartbeat is sent.
    package var heartbeat: Duration
    /// The maximum duration of the stream, or `nil` for no limit.
    package var timeout: Duration?
    /// The retry policy for reads that the store rejects because of overload.
    package var retryPolicy: WatchRetryPolicy
    /// The budget for running a query with an offset again after commits.
    package var runBudget: WatchRunBudget

    /// The behavior for a token that cannot be resumed from.
    package enum ExpiredPolicy: String, EnumParameter {
        /// Sends a reset frame and restarts with the initial state.
        case reset
        /// Rejects the request.
        case fail
    }

    /// The start of a stream.
    package enum Start: String, EnumParameter {
        /// The stream starts with the initial state.
        case snapshot
        /// The stream starts with the next change.
        case now
    }

    /// The contents of change frames.
    package enum Contents: String, EnumParameter {
        /// The changed document.
        case document
        /// Only the path of the document.
        case paths
        /// The document and its before-image.
        case before
    }

    /// The parameter for ``contents``.
    package static let include = Parameter<Contents?>(
        "include",
        "The contents of change frames: document, paths (only the path) or before (the document and its before-image)."
    )

    package init(
        target: PreparedWatchTarget,
        resume: ResumeToken? = nil,
        start: Start = .snapshot,
        contents: Contents = .document,
        coalesces: Bool = false,
        limit: Int? = nil,
        onExpired: ExpiredPolicy = .reset,
        heartbeat: Duration = .seconds(15),
        timeout: Duration? = nil,
        retryPolicy: WatchRetryPolicy = .none,
        runBudget: WatchRunBudget = .standard
    ) {
        self.target = target
        self.resume = resume
        self.start = start
        self.contents = contents
        self.coalesces = coalesces
        self.limit = limit
        self.onExpired = onExpired
        self.heartbeat = heartbeat
        self.timeout = timeout
        self.retryPolicy = retryPolicy
        self.runBudget = runBudget
    }
}

extension WatchRequest {
    /// Validates the resume token: that it was issued for the target, and with ``ExpiredPolicy/fail`` that it can be resumed
    /// from.
    func validate(in store: any DocumentStore) async throws(StatusError) {
        guard let resume else { return }
        let position = try await resume.positionAfterCatchUp(of: store)
        guard resume.belongs(to: target, in: position.database) else {
            throw StatusError(
                .invalidArgument,
                "The token was issued for another target or in another database. Omit it to start a new stream."
            )
        }
        if onExpired == .fail, try await resume.resetReason(at: position, in: store) != nil {
            throw .tokenExpired(at: position)
        }
    }
}

extension WatchRequest {
    /// The token that a stream with ``Start/now`` starts after; `nil` for ``Start/snapshot``.
    func startToken(at position: StorePosition) -> ResumeToken? {
        guard case .now = start else { return nil }
        return ResumeToken(target, at: position)
    }

    /// Returns whether a commit has all before-images that the request requires.
    func hasBeforeImages(_ commit: Commit) -> Bool {
        !commit.changes.contains(where: lacksBeforeImage)
    }

    /// Returns a commit with all before-images that the request requires. Missing ones are read at the time just before the
    /// commit.
    func addingBeforeImages(to commit: Commit, from store: any DocumentStore) async throws(StatusError) -> Commit {
        guard !hasBeforeImages(commit) else { return commit }
        var changes = commit.changes
        for (index, change) in changes.enumerated() where lacksBeforeImage(change) {
            let time = try Timestamp(microseconds: commit.time.microseconds - 1)
            changes[index] = CommittedChange(
                path: change.path,
                before: try await store.document(at: change.path, readTime: time),
                after: change.after,
                existedBefore: true
            )
        }
        return Commit(sequence: commit.sequence, time: commit.time, author: commit.author, changes: changes)
    }

    private func lacksBeforeImage(_ change: CommittedChange) -> Bool {
        guard change.before == nil, change.existedBefore, contents == .before || target.needsBeforeImages else { return false }
        return target.contains(change.path)
    }
}

extension PreparedWatchTarget {
    /// True if only the before-image shows whether a document was in the target.
    fileprivate var needsBeforeImages: Bool {
        if case .query(let watched) = self { !watched.isOrdered } else { false }
    }
}
