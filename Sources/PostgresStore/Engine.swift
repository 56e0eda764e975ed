internal import DocumentModel

/// The connections of this server to the engine, which its databases share.
struct Engine: Sendable {
    let configuration: PostgresConfiguration
    /// The connections for reads.
    let reads: EnginePool
    /// The connections for commits, so that these do not wait for long queries.
    let writes: EnginePool

    init(_ configuration: PostgresConfiguration) {
        self.configuration = configuration
        let makePool = { (label: String, count: Int) in
            EnginePool(
                configuration.address,
                label: label,
                count: count,
                timeout: configuration.timeout,
                maximumWait: configuration.maximumWait
            )
        }
        reads = makePool("hearth.engine.read", configuration.readConnectionCount)
        writes = makePool("hearth.engine.write", configuration.writeConnectionCount)
    }

    /// Closes all connections.
    func close() async {
        await reads.close()
        await writes.close()
    }
}
