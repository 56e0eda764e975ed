internal import Concurrency
internal import DocumentModel
internal import Synchronization
internal import UTF8Text

/// The leases of the databases that are open on this server.
///
/// One server at a time has the lease of a database, for work that only one should do: discarding old commits. It renews it each
/// second. When it has not done so for a while, another server takes the lease, with the next **term**. Each transaction of that work
/// locks the lease's row and compares the term (``Retention``). So a server that stood still and has lost its lease meanwhile
/// discards nothing, however late it goes on.
///
/// Commits need no lease: the lock of the database's row gives the commits of all servers one order. See ``CommitTransaction``. But other
/// servers may forward theirs to the one that has the lease, whose address is stored with it (``CommitForwarder``).
final class LeaseKeeper: Sendable {
    private struct Duty {
        let owner: Retention
        let commits: CommitQueue
        let body: @Sendable () -> Void
    }

    /// Another server that has the lease of a database.
    struct Holder: Sendable {
        /// The address by which other servers reach it.
        let address: String
        let term: Int64
    }

    private struct State {
        /// The open databases, and what is done while the lease of each is held.
        var duties: [Int64: Duty] = [:]
        /// The terms of the leases that this server has.
        var terms: [Int64: Int64] = [:]
        /// The other servers that have leases.
        var holders: [Int64: Holder] = [:]
        /// The time when ``holders`` was read.
        var holdersTime = ContinuousClock.now
        /// The engine's time, in microseconds since 1970, and the time when it was read.
        var clock: (engine: Int64, read: ContinuousClock.Instant)?
        var task: Task<Void, Never>?
        /// True if leases are to be renewed without a pause.
        var isDue = false
        /// The pause between two renewals.
        var pause: Waiter?
    }

    private let state = Mutex(State())
    private let session: EngineSession
    private let configuration: PostgresConfiguration
    private let peers: Peers
    /// The end of the work, which a silent engine delays.
    private let end = SharedOutcome<Void>()
    /// The time that ``close()`` waits for it.
    private static let maximumCloseTime: Duration = .seconds(3)
    /// The identity of this server in the table.
    private let server = RandomBytes.make(16)

    init(_ configuration: PostgresConfiguration, _ peers: Peers, log: EngineLog) {
        self.configuration = configuration
        self.peers = peers
        session = EngineSession(
            configuration.address,
            timeout: configuration.timeout,
            maximumIdle: configuration.maximumIdle,
            label: "hearth.engine.lease",
            log: log
        )
    }

    /// The term of the lease of a database; `nil` if another server has it, or none.
    func term(of database: Int64) -> Int64? { state.withLock { $0.terms[database] } }

    /// The server that has the lease of a database, if that is another one which has renewed it in time and can be reached by others.
    func holder(of database: Int64) -> Holder? {
        state.withLock { state in
            ContinuousClock.now - state.holdersTime < configuration.leaseDuration ? state.holders[database] : nil
        }
    }

    /// The time of the engine in microseconds since 1970, from that at the last renewal; `nil` before the first.
    var engineTime: Int64? {
        state.withLock { state in
            state.clock.map { $0.engine + Int64((ContinuousClock.now - $0.read) / .microseconds(1)) }
        }
    }

    /// The commits of a database of which this server has the lease with a term; `nil` otherwise.
    func commitQueue(of database: Int64, inTerm term: Int64) -> CommitQueue? {
        state.withLock { $0.terms[database] == term ? $0.duties[database]?.commits : nil }
    }

    /// The number of leases that this server has.
    var count: Int { state.withLock { $0.terms.count } }

    /// Begins to ask for the lease of a database.
    ///
    /// - Parameters:
    ///   - owner: What ends it.
    ///   - commits: The commits that this server makes.
    ///   - duty: Called at each renewal.
    func add(_ database: Int64, for owner: Retention, _ commits: CommitQueue, _ duty: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.duties[database] = Duty(owner: owner, commits: commits, body: duty)
            if state.task == nil { state.task = Task.detached { [weak self] in await self?.run() } }
        }
        renewNow()
    }

    /// Renews the leases without a pause.
    func renewNow() {
        let pause = state.withLock { state in
            state.isDue = true
            return state.pause
        }
        pause?.resume()
    }

    /// Ends the lease of a database that is being closed, unless it was opened again. Another server takes it when it has expired.
    func remove(_ database: Int64, for owner: Retention) {
        state.withLock { state in
            guard state.duties[database]?.owner === owner else { return }
            state.duties[database] = nil
            state.terms[database] = nil
            state.holders[database] = nil
        }
    }

    /// Ends all leases, unless the engine is silent: then other servers take them when they have expired.
    func close() async {
        let task = state.withLock { state in
            state.task?.cancel()
            return state.task
        }
        if task != nil { await end.value(within: Self.maximumCloseTime) }
    }

    private func run() async {
        while !Task.isCancelled {
            // Without the engine, nobody takes a lease either.
            state.withLock { $0.isDue = false }
            try? await renew()
            await waitForRenewal()
        }
        try? await session.run(repeating: false) { [server] connection throws(StatusError) in
            try connection.execute(
                EngineStatement(
                    "UPDATE hearth.leases SET holder = NULL, address = NULL WHERE holder = $1::bytea",
                    .bytes(server)
                )
            )
            return
        }
        await session.close()
        end.end(with: ())
    }

    /// Waits for the time of the next renewal.
    private func waitForRenewal() async {
        let pause = Waiter()
        let isDue = state.withLock { state in
            state.pause = pause
            return state.isDue
        }
        guard !isDue else { return }
        let timer = Task { [interval = configuration.leaseRenewalInterval] in
            if (try? await Task.sleep(for: interval)) != nil { pause.resume() }
        }
        await pause.wait()
        timer.cancel()
    }

    /// True while this server can use the tables. One that a newer server has left behind leaves the leases to others.
    private static let isUsableSQL = "NOT EXISTS (SELECT 1 FROM hearth.format WHERE id = 2 AND version > \(EngineSchema.version))"

    /// Renews the leases, takes those that are free, and reads who has the others.
    private func renew() async throws(StatusError) {
        let databases = state.withLock { Array($0.duties.keys) }
        let expiry = Int64(configuration.leaseDuration / .microseconds(1))
        let address = peers.address
        let time = ContinuousClock.now
        let (terms, holders, clock) = try await session.run(repeating: false) { [server] connection throws(StatusError) in
            let results = try connection.execute([
                EngineStatement(
                    """
                    UPDATE hearth.leases SET seen = \(EngineClock.sql), address = $3::bytea
                    WHERE db = ANY($1::bigint[]) AND holder = $2::bytea AND \(Self.isUsableSQL) RETURNING db, term
                    """,
                    .integers(databases),
                    .bytes(server),
                    .bytes(address.map { Array($0.utf8) })
                ),
                // A row that another server has locked is left to it, so that the renewals of the others do not wait.
                EngineStatement(
                    """
                    UPDATE hearth.leases SET holder = $2::bytea, term = term + 1, seen = \(EngineClock.sql), address = $4::bytea
                    WHERE db IN (
                        SELECT db FROM hearth.leases
                        WHERE db = ANY($1::bigint[]) AND (holder IS NULL OR seen < \(EngineClock.sql) - $3::bigint)
                            AND \(Self.isUsableSQL)
                        FOR UPDATE SKIP LOCKED
                    ) RETURNING db, term
                    """,
                    .integers(databases),
                    .bytes(server),
                    .integer(expiry),
                    .bytes(address.map { Array($0.utf8) })
                ),
                EngineStatement(
                    """
                    SELECT db, term, address FROM hearth.leases WHERE db = ANY($1::bigint[]) AND holder <> $2::bytea
                    AND seen >= \(EngineClock.sql) - $3::bigint AND address IS NOT NULL
                    """,
                    .integers(address == nil ? [] : databases),
                    .bytes(server),
                    .integer(expiry)
                ),
                EngineStatement("SELECT \(EngineClock.sql)"),
            ])
            let clock = results[3].integer(0, 0).map { (engine: $0, read: ContinuousClock.now) }
            var terms: [Int64: Int64] = [:]
            for rows in results.prefix(2) {
                for row in 0..<rows.count {
                    if let database = rows.integer(row, 0), let term = rows.integer(row, 1) { terms[database] = term }
                }
            }
            var holders: [Int64: Holder] = [:]
            for row in 0..<results[2].count {
                guard let database = results[2].integer(row, 0), let term = results[2].integer(row, 1),
                    let address = results[2].text(row, 2)
                else { continue }
                holders[database] = Holder(address: address, term: term)
            }
            return (terms, holders, clock)
        }
        let duties = state.withLock { state in
            state.terms = terms.filter { state.duties[$0.key] != nil }
            state.holders = holders.filter { state.duties[$0.key] != nil }
            state.holdersTime = time
            state.clock = clock
            return state.terms.keys.compactMap { state.duties[$0]?.body }
        }
        for duty in duties { duty() }
    }
}
