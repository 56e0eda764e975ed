import Concurrency
import DocumentModel
package import DocumentStore

/// The reader of the frames of a live stream while its task waits, for an owner that sends them without a task.
///
/// It reads commits from memory only. For everything else its owner ends it, and the task continues the stream. It is used only on
/// the thread on which the task waits.
package final class LiveWatchReader {
    private let reader: WatchReader
    private let waiter: Waiter
    private var notification: CommitNotification?
    /// True if the task continues the stream.
    package private(set) var isEnded = false

    init(_ reader: WatchReader, _ waiter: Waiter) {
        self.reader = reader
        self.waiter = waiter
    }

    /// The position of the stream.
    package var position: LiveWatchPosition { reader.livePosition }

    /// Returns the frames of the next small commit that affects the target; `nil` if none is in memory, or if the task must
    /// continue.
    package func next() -> [OutgoingWatchFrame]? {
        reader.nextInMemory()
    }

    /// Advances the stream as another one with the same target and contents has advanced, instead of reading the same frames.
    ///
    /// - Parameter sends: True if there are frames to send for it; false if the commits don't affect the target.
    /// - Returns: False, with nothing changed, if the stream is not at `start` or is to be continued by ``next()`` or its task.
    package func advance(from start: LiveWatchPosition, to end: LiveWatchPosition, sends: Bool) -> Bool {
        reader.advance(from: start, to: end, sends: sends)
    }

    /// Calls `body` once, on any thread, as soon as there is a commit to read or the log has ended.
    package func notify(_ body: @escaping @Sendable () -> Void) {
        notification = reader.notify(body)
    }

    /// Ends the reader, and lets the task continue the stream.
    ///
    /// - Parameter hasProgressed: False if ``notify(_:)`` has called, but there was no commit to read.
    package func end(hasProgressed: Bool = true) {
        guard !isEnded else { return }
        isEnded = true
        notification?.cancel()
        notification = nil
        if !hasProgressed { reader.recordWait() }
        waiter.resume()
    }
}

/// The position of a live stream. From the same commit on, all streams with the same target and contents have the same frames.
package struct LiveWatchPosition: Sendable {
    /// The last commit whose frames have been read.
    package let sequence: SequenceNumber
    let epoch: String
    let time: Timestamp
    /// The number of documents in the target; `nil` if unknown.
    let count: Int?
    /// The sequence number of the last resume token.
    let tokenSequence: SequenceNumber
}
