package import Concurrency
package import DocumentModel
import Synchronization

/// The changes of a stream's targets that its task has not carried out.
package final class WatchTargetChanges: Sendable {
    private let inbox = StreamInbox<WatchTargetChange>()
    /// The size of the changes in the inbox.
    private let byteCount = Atomic(0)

    /// The maximum size of the changes that wait for a stream. A client that reads its stream has few.
    private static let maximumBytes = 8 << 20

    package init() {}

    /// Adds changes, all or none.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` if too many changes wait.
    package func add(_ changes: [WatchTargetChange]) throws(StatusError) {
        let added = changes.reduce(0) { $0 + $1.byteCount }
        guard byteCount.add(added, ordering: .relaxed).newValue <= Self.maximumBytes else {
            byteCount.subtract(added, ordering: .relaxed)
            throw StatusError(
                .resourceExhausted,
                "Too many changes of targets wait for the stream. Read its frames before you request more."
            )
        }
        for change in changes { inbox.add(change) }
    }

    /// Ends the stream.
    package func end() {
        inbox.fail(StatusError(.cancelled, "The stream has ended."))
    }

    /// Takes the next change; `nil` if there is none.
    ///
    /// - Throws: An error after ``end()``.
    package func take() throws(StatusError) -> WatchTargetChange? {
        guard case .request(let change) = try inbox.take() else { return nil }
        byteCount.subtract(change.byteCount, ordering: .relaxed)
        return change
    }

    /// Resumes a waiter at the next change or the end.
    package func setWaiter(_ waiter: Waiter) {
        inbox.setWaiter(waiter)
    }
}
