package import DocumentModel
import DocumentStore
import Synchronization

/// The most recent slow requests, for admins without access to the server's log.
package final class SlowCallLog: Sendable {
    /// A request that took long.
    package struct Entry: Sendable {
        /// The time at which its response had been sent.
        package let time: Timestamp
        package let duration: Duration
        /// The HTTP method, the path without its query, and the status.
        package let request: String
        package let status: Int
        package let requestID: String
        /// The facts that became known while it was processed.
        package let facts: RequestTrace.Facts

        package init(
            time: Timestamp = .current(),
            duration: Duration,
            request: String,
            status: Int,
            requestID: String,
            facts: RequestTrace.Facts
        ) {
            (self.time, self.duration, self.request, self.status) = (time, duration, request, status)
            (self.requestID, self.facts) = (requestID, facts)
        }
    }

    private struct State {
        var threshold: Duration?
        var entries: [Entry] = []
    }

    private let state = Mutex(State())

    /// The maximum number of entries.
    package static let capacity = 100

    package init() {}

    /// The least duration of a slow request; `nil` if none are recorded.
    package var threshold: Duration? {
        get { state.withLock(\.threshold) }
        set { state.withLock { $0.threshold = newValue } }
    }

    /// The entries, oldest first.
    package var entries: [Entry] { state.withLock(\.entries) }

    /// Adds a request, in place of the oldest if there are too many.
    package func add(_ entry: Entry) {
        state.withLock { state in
            if state.entries.count >= Self.capacity { state.entries.removeFirst() }
            state.entries.append(entry)
        }
    }
}
