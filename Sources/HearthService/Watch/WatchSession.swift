package import DocumentModel
import DocumentStore

/// The frames of one watch stream, as they come: those that belong together at a time, a page of the initial state or the
/// changes of one commit.
///
/// Nothing is queued for a slow reader: it reads the log of commits at its own pace, and writers never wait for it. One that
/// falls behind what the log keeps gets a ``WatchFrame/reset(_:)`` and the whole state again, or is told to be too slow where it
/// has asked for that. A document that can't be read is
/// told by a ``WatchFrame/damaged(_:)`` in a collection's state; a stream of that document alone fails.
///
/// The stream ends after an ``WatchFrame/end(_:token:)`` frame, and without one when its task is cancelled.
package final class WatchSession: AsyncSequence, Sendable {
    package typealias Element = [WatchFrame]
    package typealias Failure = StatusError

    /// What is asked for.
    package let request: WatchRequest
    let store: any DocumentStore
    let control: WatchControl

    /// Makes a stream; it is to be iterated once.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when the token is of another target; ``StatusCode/outOfRange`` when it can't
    ///   be resumed from and the request says to fail then; ``StatusCode/permissionDenied`` when the caller may not watch it.
    package init(
        _ request: WatchRequest,
        in context: ServiceContext
    ) async throws(StatusError) {
        try context.authorize(.reader)
        try request.target.check(for: context.caller)
        self.request = request
        self.store = context.store
        self.control = WatchControl(heartbeat: request.heartbeat, timeout: request.timeout)
        try await request.check(in: store)
    }

    /// Ends the stream after what it is sending, from any task. Only the first reason counts.
    ///
    /// - Parameter reason: What to tell the watcher; nil when it is gone, for an end without a frame.
    package func end(_ reason: WatchFrame.EndReason?) {
        control.end(reason)
    }

    /// Whether a commit's changes are the same frames for everyone who watches the same and wants the same told.
    package var hasCommonFrames: Bool {
        guard !request.coalesces else { return false }
        return if case .query(let watched) = request.target { !watched.isRanked } else { true }
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(WatchReader(self))
    }
}

extension WatchSession {
    /// Reads a stream, pulling from the store whenever it is asked for more.
    package struct Iterator: AsyncIteratorProtocol {
        private let reader: WatchReader

        fileprivate init(_ reader: WatchReader) {
            self.reader = reader
        }

        /// Whether there are commits already that the stream has not come to.
        package var isBehind: Bool { reader.isBehind }

        /// Whether there are more of them than the next frames can tell of.
        package var isFarBehind: Bool { reader.isFarBehind }

        /// The next frames, at least one; nil at the end.
        package mutating func next() async throws(StatusError) -> [WatchFrame]? {
            try await reader.next(waits: true)
        }

        /// The next frames, at least one; nil at the end.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(StatusError) -> [WatchFrame]? {
            try await reader.next(waits: true)
        }

        /// The next frames; nil at the end.
        ///
        /// - Parameter waits: Whether to wait or read for them where that is needed. Otherwise there are none then, for somebody who
        ///   still holds frames that were given before.
        package mutating func next(waits: Bool) async throws(StatusError) -> [WatchFrame]? {
            try await reader.next(waits: waits)
        }
    }
}
