package import DocumentModel

/// Receives what a store has done, for statistics. Its methods are called from any thread, within commits: they must not wait.
package protocol StoreObserver: Sendable {
    /// Records a commit that is durable and visible.
    ///
    /// - Parameters:
    ///   - writeCount: The number of its writes.
    ///   - period: The time from its submission until now.
    ///   - sync: The time of the sync that made it durable; `nil` for a commit that changed nothing.
    func didCommit(writeCount: Int, period: Range<ContinuousClock.Instant>, sync: Range<ContinuousClock.Instant>?)

    /// Records a commit that has failed, and changed nothing.
    ///
    /// - Parameters:
    ///   - writeCount: The number of its writes.
    ///   - period: The time from its submission until now.
    func didFailCommit(with error: StatusError, writeCount: Int, period: Range<ContinuousClock.Instant>)

    /// Records the sync of a batch of commits.
    ///
    /// - Parameters:
    ///   - commitCount: The number of commits.
    ///   - duration: The time that the sync took.
    func didSync(commitCount: Int, duration: Duration)

    /// Records the end of a wait in a queue.
    ///
    /// - Parameter nanoseconds: The time that it took.
    func didWait(in queue: StoreQueue, nanoseconds: UInt64)
}

/// A queue of a store, in which work waits for a thread.
package enum StoreQueue: String, CaseIterable, Sendable {
    /// Commits.
    case commit
    /// Reads of single documents.
    case read
    /// Lists, history and earlier times.
    case scan
    /// Queries of the index.
    case query
}
