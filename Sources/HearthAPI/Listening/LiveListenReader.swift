import Concurrency
import DocumentModel
package import DocumentStore

/// The reader of the messages of a session whose targets are all live, while its task waits, for an owner that sends them without a task.
///
/// It reads commits from memory only. For everything else its owner ends it, and the task continues the session. It is used only on
/// the thread on which the task waits.
package final class LiveListenReader {
    private let session: ListenSession
    private let waiter: Waiter
    private var notification: CommitNotification?
    /// True if the task continues the session.
    package private(set) var isEnded = false

    init(_ session: ListenSession, _ waiter: Waiter) {
        self.session = session
        self.waiter = waiter
    }

    /// The last commit whose messages have been read.
    package var sequence: SequenceNumber { session.position.lastSequence }

    /// The position of the session.
    package var position: LiveListenPosition { session.livePosition }

    /// Returns the messages of the next small commit that affects a target; `nil` if there is none among the next few in memory, or if
    /// the task must continue. With `nil` as well, ``sequence`` may have advanced past commits that affect no target.
    package func next() -> [ListenMessage]? {
        session.nextInMemory()
    }

    /// Advances the session as another one with the same targets has advanced, instead of reading the same messages.
    ///
    /// - Parameter sends: True if there are messages to send for it; false if the commits affect no target.
    /// - Returns: False, with nothing changed, if the session is not at `start` or is to be continued by ``next()`` or its task.
    package func advance(from start: LiveListenPosition, to end: LiveListenPosition, sends: Bool) -> Bool {
        session.advance(from: start, to: end, sends: sends)
    }

    /// Calls `body` once, on any thread, as soon as there is a commit to read or the log has ended.
    package func notify(_ body: @escaping @Sendable () -> Void) {
        notification = session.notify(body)
    }

    /// Ends the reader, and lets the task continue the session.
    ///
    /// - Parameter hasProgressed: False if ``notify(_:)`` has called, but there was no commit to read.
    package func end(hasProgressed: Bool = true) {
        guard !isEnded else { return }
        isEnded = true
        notification?.cancel()
        notification = nil
        if !hasProgressed { session.leaveCommits() }
        waiter.resume()
    }
}

/// The position of a session whose targets are all live. From the same one on, all sessions have the same messages.
package struct LiveListenPosition: Sendable {
    /// The last commit whose messages have been read.
    package let sequence: SequenceNumber
    let database: DatabaseID?
    let epoch: String
    let time: Timestamp?
    /// The latest time of anything that has been sent.
    let readTime: Timestamp
    let targets: [ListenTarget]
    /// True if the client may see only documents that are in a target.
    let withholdsOthers: Bool
}
