package import DocumentModel

/// Receives what a store has done, for statistics. Its methods are called from any thread, within commits: they must not wait.
package protocol StoreObserver: Sendable {
    /// Records a commit that is durable and visible.
    ///
    /// - Parameters:
    ///   - writeCount: The number of its writes.
    ///   - duration: The time since it was submitted.
    func didCommit(writeCount: Int, duration: Duration)

    /// Records a commit that has failed, and changed nothing.
    func didFailCommit(with error: StatusError)

    /// Records the sync of a batch of commits.
    ///
    /// - Parameters:
    ///   - commitCount: The number of commits.
    ///   - duration: The time that the sync took.
    func didSync(commitCount: Int, duration: Duration)
}
