package import DocumentModel
import DocumentStore

/// A watch stream: the asynchronous sequence of its frames, in batches. A batch is a page of the initial state, or the changes of
/// one commit or of several coalesced ones.
///
/// No frames are queued for a slow reader: it reads the commit log at its own pace, and writers never wait for it. A reader that
/// falls behind the retained commits receives ``OutgoingWatchFrame/reset(_:)`` and the initial state again, or an end frame if it
/// has requested that. An unreadable document appears as ``OutgoingWatchFrame/damaged(_:)`` in the initial state of a collection;
/// a stream of that document alone fails.
///
/// The stream ends with an ``OutgoingWatchFrame/end(_:token:)`` frame, or without one when its task is cancelled.
package final class WatchSession: AsyncSequence, Sendable {
    package typealias Element = [OutgoingWatchFrame]
    package typealias Failure = StatusError

    package let request: WatchRequest
    let store: any DocumentStore
    let wakeup: WatchWakeup
    /// The access of an end user, as decided when the stream was opened; `nil` for other callers.
    let access: TargetAccess?
    /// Interrupts the stream of an end user whenever other rules decide.
    private let rulesObservation: RevocationObservation?

    /// Opens a stream, which can be iterated once.
    ///
    /// The access of an end user is decided before the stream opens, and again as ``TargetAccess`` has it. The stream fails once it
    /// is denied.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the token was issued for another target; ``StatusCode/outOfRange`` if it
    ///   cannot be resumed from and the request asks to fail; ``StatusCode/permissionDenied`` if the caller has no access to the
    ///   target.
    package init(
        _ request: WatchRequest,
        in context: ServiceContext
    ) async throws(StatusError) {
        try context.authorize(.readDocuments)
        try request.target.requireAccess(for: context.caller)
        guard !context.caller.isEndUser || request.contents != .before else {
            throw .closedToEndUsers("Watching before-images requires an API key.")
        }
        self.request = request
        self.store = context.streamStore
        let wakeup = WatchWakeup(heartbeat: request.heartbeat, timeout: request.timeout)
        self.wakeup = wakeup
        var access = try context.access(to: request.target.forRules)
        // Before the decision: a change meanwhile must not be missed.
        rulesObservation = access.map { _ in context.rules.onChange { wakeup.recordRulesChange() } }
        try await access?.decide()
        self.access = access
        try await request.validate(in: store)
    }

    /// Ends the stream after the current batch of frames. May be called from any task; only the first reason counts.
    ///
    /// - Parameter reason: The reason in the end frame, or `nil` for an end without a frame after a disconnect.
    package func end(_ reason: OutgoingWatchFrame.EndReason?) {
        wakeup.end(reason)
    }

    /// True if removed documents are sent without their contents. A query is proved for end users by what its results are: they may
    /// not see what a document is once it is none.
    package var omitsRemovedDocuments: Bool { access != nil }

    /// True if the frames of a commit are identical for all streams with the same target and contents that are alike in
    /// ``omitsRemovedDocuments``, so that they can be shared.
    package var hasShareableFrames: Bool {
        guard !request.coalesces else { return false }
        return if case .query(let watched) = request.target { !watched.isOrdered } else { true }
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(WatchReader(self))
    }
}

extension WatchSession {
    /// The iterator of a stream, which reads from the store on demand.
    package struct Iterator: AsyncIteratorProtocol {
        private let reader: WatchReader

        fileprivate init(_ reader: WatchReader) {
            self.reader = reader
        }

        /// True if commits exist that the stream has not read yet.
        package var isBehind: Bool { reader.isBehind }

        /// True if more commits are unread than the next batch can cover.
        package var isFarBehind: Bool { reader.isFarBehind }

        /// True if the stream waits for a commit, whose frames a ``LiveWatchReader`` can read.
        package var isWaitingForCommit: Bool { reader.isWaitingForCommit }

        /// Lets a live reader take the frames of new commits, until it ends or the stream has to be continued for another reason,
        /// such as a heartbeat.
        ///
        /// - Parameter start: Called with the reader, unless the stream has to be continued at once.
        package nonisolated(nonsending) func waitLive(_ start: (LiveWatchReader) -> Void) async {
            await reader.waitLive(start)
        }

        /// Returns the next frames, at least one, or `nil` at the end.
        package mutating func next() async throws(StatusError) -> [OutgoingWatchFrame]? {
            try await reader.next(waits: true)
        }

        /// Returns the next frames, at least one, or `nil` at the end.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(StatusError) -> [OutgoingWatchFrame]? {
            try await reader.next(waits: true)
        }

        /// Returns the next frames, or `nil` at the end.
        ///
        /// - Parameter waits: Whether to wait and to read from the store if needed. If `false`, the result may be empty, for a
        ///   caller that still has frames to send.
        package mutating func next(waits: Bool) async throws(StatusError) -> [OutgoingWatchFrame]? {
            try await reader.next(waits: waits)
        }
    }
}
