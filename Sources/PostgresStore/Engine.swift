internal import Concurrency
internal import DocumentModel
internal import Logging

/// The connections of this server to the engine, which its databases share.
struct Engine: Sendable {
    let configuration: PostgresConfiguration
    let log: EngineLog
    /// The connections for reads.
    let reads: EnginePool
    /// The reads of single documents that share statements.
    let gets: DocumentGet.Batcher
    /// The connections for queries, which may take long.
    let queries: EnginePool
    /// The connection for the commit log, so that watchers do not wait for anything else.
    let feed: EnginePool
    /// The connections for commits, so that these do not wait for reads.
    let writes: EnginePool
    /// The check whether the engine accepts writes.
    let probe: EngineProbe
    /// The end of transactions of other servers that stand still.
    let stalledTransactions: StalledTransactions
    /// The leases of the open databases.
    let leases: LeaseKeeper
    /// The other servers.
    let peers: Peers

    init(_ configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        let log = EngineLog(logger)
        self.log = log
        probe = EngineProbe(configuration, log: log)
        stalledTransactions = StalledTransactions(configuration, log: log)
        peers = Peers()
        leases = LeaseKeeper(configuration, peers, log: log)
        let makePool = { (label: String, count: Int, maximumIdle: Duration) in
            EnginePool(configuration, label: label, count: count, maximumIdle: maximumIdle, log: log)
        }
        reads = makePool("hearth.engine.read", configuration.readConnectionCount, configuration.maximumReadIdle)
        gets = DocumentGet.makeBatcher(configuration)
        queries = makePool("hearth.engine.query", configuration.queryConnectionCount, configuration.maximumReadIdle)
        feed = makePool("hearth.engine.log", 1, configuration.maximumReadIdle)
        writes = makePool("hearth.engine.write", configuration.writeConnectionCount, configuration.maximumIdle)
    }

    /// Closes all connections.
    func close() async {
        peers.stop()
        await leases.close()
        await probe.close()
        await stalledTransactions.close()
        for pool in [reads, queries, feed, writes] { await pool.close() }
    }

    /// Runs `end`, which waits for the round trips in progress, and returns when it has ended, or after a few seconds: a silent engine
    /// delays them, and nothing depends on them any more.
    static func close(_ end: @escaping @Sendable () async -> Void) async {
        let outcome = SharedOutcome<Void>()
        Task.detached {
            await end()
            outcome.end(with: ())
        }
        await outcome.value(within: maximumCloseTime)
    }

    private static let maximumCloseTime: Duration = .seconds(3)

    /// Runs `body`, which determines the outcome of commits whose answer was lost, until the engine answers.
    ///
    /// - Parameter deadline: The time after which it is not tried again; the time limit of a round trip from now on if it is `nil`.
    /// - Throws: An error that says that the outcome is unknown, when the engine cannot be reached in time.
    func resolve<Result: Sendable>(
        by deadline: ContinuousClock.Instant? = nil,
        _ body: @Sendable (EngineConnection) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let deadline = deadline ?? .now + configuration.timeout
        var attempt = 0
        while true {
            attempt += 1
            do throws(StatusError) {
                return try await writes.write(body)
            } catch {
                guard ContinuousClock.now < deadline else { throw Self.unknownOutcome(cause: error.cause) }
                await RetryPause.wait(after: attempt)
            }
        }
    }

    /// Returns the error of a commit whose outcome cannot be determined.
    static func unknownOutcome(cause: (any Error)?) -> StatusError {
        var unknown = StatusError(
            .unavailable,
            "The connection to the database engine was lost during the commit, whose outcome is unknown. Read the documents "
                + "to see whether it was applied.",
            cause: cause
        )
        unknown.isOutcomeUnknown = true
        return unknown
    }
}
