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
    /// The time after which the engine ends a transaction whose server sends nothing, and with it the locks that others wait for.
    var maximumIdle: Duration = .seconds(10)
    /// The time after which the other servers end a transaction for whose server the engine waits in the middle of a message, if they wait for
    /// it in turn. Longer than ``maximumIdle``: the message may be large and the network slow.
    var maximumStall: Duration = .seconds(20)
    /// ``maximumIdle`` for reads, which hold no lock, and compute between their statements.
    var maximumReadIdle: Duration = .seconds(60)
    /// The maximum number of entries of the index that a commit of several documents adds and removes, while other commits wait for it.
    var maximumEntryCount = 200_000
    /// The time limit of a wait for a free connection.
    package var maximumWait: Duration = .seconds(30)
    /// The time without a renewal after which another server takes the lease of a database.
    package var leaseDuration: Duration = .seconds(5)
    /// The time between two renewals.
    package var leaseRenewalInterval: Duration = .seconds(1)
    /// The time in which the server that has the lease must answer a forwarded batch of commits.
    var forwardTimeout: Duration = .seconds(2)
    /// The time for which nothing is forwarded to a server that gave no answer.
    var forwardPause: Duration = .seconds(5)
    /// True to forward all commits, whether or not they wait for other servers.
    var forwardsAlways = false
    /// The retention period for commits, for watchers and history.
    package var retentionAge: Duration = .seconds(24 * 60 * 60)
    /// The number of commits that are retained whatever their age.
    package var minimumRetainedCount = 1_000
    /// The number of commits, of all servers, after which older ones are discarded, if their time has passed.
    package var pruningInterval = 1_000
    /// The memory for recent commits of each database, from which watchers read.
    package var recentBytes = 8 << 20
    /// True to ask the engine for notifications of commits, if it has them; without them, the other servers' commits are found by polling
    /// alone.
    package var usesNotifications = true
    /// The time between two looks for commits while there are some.
    package var pollInterval: Duration = .milliseconds(20)
    /// The time between two looks for commits while there are none.
    package var idlePollInterval: Duration = .milliseconds(200)
    /// The time without an answer of the engine after which readers of the log end, so that their clients are told.
    package var maximumLogAge: Duration = .seconds(30)
    /// Receives statistics of commits; `nil` if nothing does.
    package var observer: (any StoreObserver)?

    /// Creates a configuration with the defaults.
    package init(_ address: EngineAddress) {
        self.address = address
    }
}
