/// The state of a server's connections to the engine in which it stores its databases.
package struct EngineStatus: Sendable {
    /// False from a connection that failed to one that was made.
    package var isReached: Bool
    /// The number of sessions of the pools, each of which has at most one connection.
    package var sessionCount: Int
    /// The number of sessions that calls use.
    package var usedSessionCount: Int
    /// The number of calls that wait for a session.
    package var waitingCount: Int
    /// The time since the server has last looked for commits of other servers.
    package var logAge: Duration
    /// The number of databases whose lease the server has.
    package var leaseCount: Int
    /// The number of transactions that were tried again, since they lost a race in the engine or their connection.
    package var retryCount: Int
    /// The number of times that a database's history was found to be replaced.
    package var replacedHistoryCount: Int
    /// The number of commits that other servers have decided for this one.
    package var forwardedCount: Int
    /// The number of batches of commits to which other servers gave no answer.
    package var failedForwardCount: Int

    /// Creates the state.
    package init(
        isReached: Bool,
        sessionCount: Int,
        usedSessionCount: Int,
        waitingCount: Int,
        logAge: Duration,
        leaseCount: Int,
        retryCount: Int,
        replacedHistoryCount: Int,
        forwardedCount: Int,
        failedForwardCount: Int
    ) {
        self.isReached = isReached
        self.sessionCount = sessionCount
        self.usedSessionCount = usedSessionCount
        self.waitingCount = waitingCount
        self.logAge = logAge
        self.leaseCount = leaseCount
        self.retryCount = retryCount
        self.replacedHistoryCount = replacedHistoryCount
        self.forwardedCount = forwardedCount
        self.failedForwardCount = failedForwardCount
    }
}
