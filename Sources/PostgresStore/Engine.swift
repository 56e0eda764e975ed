internal import DocumentModel
internal import Logging

/// The connections of this server to the engine, which its databases share.
struct Engine: Sendable {
    let configuration: PostgresConfiguration
    let log: EngineLog
    /// The connections for reads.
    let reads: EnginePool
    /// The connections for queries, which may take long.
    let queries: EnginePool
    /// The connection for the commit log, so that watchers do not wait for anything else.
    let feed: EnginePool
    /// The connections for commits, so that these do not wait for reads.
    let writes: EnginePool

    init(_ configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        let log = EngineLog(logger)
        self.log = log
        let makePool = { (label: String, count: Int) in
            EnginePool(
                configuration.address,
                label: label,
                count: count,
                timeout: configuration.timeout,
                maximumWait: configuration.maximumWait,
                log: log
            )
        }
        reads = makePool("hearth.engine.read", configuration.readConnectionCount)
        queries = makePool("hearth.engine.query", configuration.queryConnectionCount)
        feed = makePool("hearth.engine.log", 1)
        writes = makePool("hearth.engine.write", configuration.writeConnectionCount)
    }

    /// Closes all connections.
    func close() async {
        for pool in [reads, queries, feed, writes] { await pool.close() }
    }
}
