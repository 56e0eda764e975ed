package import DocumentStore

/// The configuration of a ``PostgresHost``.
package struct PostgresConfiguration: Sendable {
    /// The engine.
    package var address: EngineAddress
    /// The number of connections for reads.
    package var readConnectionCount = 4
    /// The number of connections for queries, so that reads do not wait for them.
    package var queryConnectionCount = 4
    /// The number of connections for commits.
    package var writeConnectionCount = 4
    /// The time limit of a round trip to the engine.
    package var timeout: Duration = .seconds(30)
    /// The time limit of a wait for a free connection.
    package var maximumWait: Duration = .seconds(30)
    /// The retention period for commits, for watchers and history.
    package var retentionAge: Duration = .seconds(24 * 60 * 60)
    /// The number of commits that are retained whatever their age.
    package var minimumRetainedCount = 1_000
    /// The number of commits of this server after which older ones are discarded, if their time has passed.
    package var pruningInterval = 1_000
    /// The memory for recent commits of each database, from which watchers read.
    package var recentBytes = 8 << 20
    /// True to ask the engine for notifications of commits; without them, the other servers' commits are found by polling alone.
    package var usesNotifications = true
    /// The time between two looks for commits while there are some.
    package var pollInterval: Duration = .milliseconds(20)
    /// The time between two looks for commits while there are none.
    package var idlePollInterval: Duration = .milliseconds(200)
    /// Receives statistics of commits; `nil` if nothing does.
    package var observer: (any StoreObserver)?

    /// Creates a configuration with the defaults.
    package init(_ address: EngineAddress) {
        self.address = address
    }
}
