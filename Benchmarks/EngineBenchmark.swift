import ArgumentParser
import DocumentModel
import DocumentStore
import Foundation
import Logging
import PostgresStore
import Synchronization
import UTF8Text

/// The store in PostgreSQL, compared with `pgbench` and with raw statements on the same server of PostgreSQL.
struct EngineBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "engine",
        abstract: "Reads, commits and events of databases in PostgreSQL, compared with pgbench and raw statements."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents that are read.")
    var documents = 10_000

    @Option(help: "Number of connections for reads.")
    var connections = 8

    @Option(help: "Number of concurrent callers that commit.")
    var callers = 64

    @Option(help: "Duration of a run in seconds.")
    var seconds = 5

    /// The number of runs so far.
    private static let runs = Atomic(0)

    func validate() throws {
        guard documents >= 1_000, connections >= 1, callers >= 1, seconds >= 1 else {
            throw ValidationError("Requires at least 1,000 documents, and 1 connection, caller and second.")
        }
    }

    func run() async throws {
        var report = Report()
        try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                guard let server = try await PostgresServer(in: folder) else {
                    throw ValidationError("PostgreSQL is not installed.")
                }
                do {
                    try await measure(server, into: &report)
                } catch {
                    server.stop()
                    throw error
                }
                server.stop()
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func measure(_ server: PostgresServer, into report: inout Report) async throws {
        try server.initializeBench(scale: 1)
        try await withServers(1, server) { stores in try await load(stores[0]) }
        try server.execute("VACUUM ANALYZE")
        try await measureReads(server, into: &report)
        let alone = try await measureLatency(server, into: &report)
        try await measureCommits(server, comparedWith: alone, into: &report)
        try await measureForwardedCommits(server, into: &report)
        try await measureEvents(server, into: &report)
    }

    /// Calls `body` with the stores of some servers, which run in this process.
    private func withServers<Result>(
        _ count: Int,
        _ server: PostgresServer,
        _ body: ([any DocumentStore]) async throws -> Result
    ) async throws -> Result {
        var hosts: [PostgresHost] = []
        for _ in 0..<count { hosts.append(try await open(server)) }
        let result = try await body(hosts.map(\.defaultStore))
        for host in hosts { await host.close() }
        return result
    }

    private func open(_ server: PostgresServer) async throws -> PostgresHost {
        var configuration = PostgresConfiguration(try EngineAddress(server.url))
        configuration.readConnectionCount = connections
        return try await PostgresHost.open(configuration, logger: .benchmark)
    }

    private func load(_ store: any DocumentStore) async throws {
        for start in stride(from: 0, to: documents, by: 500) {
            let writes = try (start..<min(start + 500, documents)).map { number in
                try Write.set(Self.path("read/\(number)"), Self.fields(number))
            }
            _ = try await store.commit(writes, validating: ReadSet(), by: nil, identity: nil)
        }
    }

    private static func path(_ text: String) throws -> DocumentPath { try DocumentPath(text) }

    /// Returns the fields of a document, which has ``entryCount`` entries.
    private static func fields(_ number: Int) -> MapValue {
        [
            "title": .string("Document \(number)"), "author": .string("Author \(number % 100)"), "pages": .integer(Int64(number)),
            "rating": .double(Double(number % 50) / 10), "tags": .array([.string("red"), .string("tag\(number % 20)")]),
        ]
    }

    /// The number of index entries of a document: its fields, and the elements of one.
    private static let entryCount = 7
}

// MARK: - Reads

extension EngineBenchmark {
    private func measureReads(_ server: PostgresServer, into report: inout Report) async throws {
        let baseline = "pgbench -S, \(connections) connections"
        var single: Measurement?
        for count in [1, 2, 4] {
            let (bench, read) = try await withServers(count, server) { stores in
                try await alternate {
                    try await measureBench(baseline, server, ["-S"], connections: connections)
                } with: {
                    try await measure(
                        "get, \(2 * connections) callers a server, servers: \(count)",
                        unit: "document",
                        callers: 2 * connections * count,
                        target: Measurement.Target(baseline: baseline, ratio: 0.4),
                        server
                    ) { [documents] caller, index in
                        let path = try Self.path("read/\((caller &* 7_919 &+ index &* 104_729) % documents)")
                        _ = try await stores[caller % stores.count].document(at: path, readTime: nil)
                    }
                }
            }
            var measurement = read
            if let single { measurement.addProcessorTime(relativeTo: single, maximum: 1.1) } else { single = measurement }
            report.add(bench)
            report.add(measurement)
        }
    }

    /// Measures a baseline and a workload in turn, a second each, so that other load on the machine affects both.
    private func alternate(
        _ baseline: () async throws -> Measurement,
        with workload: () async throws -> Measurement
    ) async throws -> (Measurement, Measurement) {
        try await alternate(baseline, with: workload) { sum, measurement in sum.add(measurement) }
    }

    private func alternate<Result>(
        _ baseline: () async throws -> Measurement,
        with workload: () async throws -> Result,
        adding: (inout Result, Result) -> Void
    ) async throws -> (Measurement, Result) {
        var (sum, results) = (try await baseline(), try await workload())
        for _ in 1..<seconds {
            sum.add(try await baseline())
            adding(&results, try await workload())
        }
        return (sum, results)
    }

    /// The time in which the processes of closed connections end, so that their CPU time is not that of the next run.
    private static let endOfBackends: Duration = .milliseconds(200)

    /// Runs `pgbench` with one of its own scripts.
    private func measureBench(
        _ name: String,
        _ server: PostgresServer,
        _ arguments: [String],
        connections: Int
    ) async throws -> Measurement {
        var count = 0
        var measurement = try await Measurement.run(
            name,
            operations: 1,
            unit: "transaction",
            processorTime: server.processorTime
        ) {
            count = try server.bench(arguments + ["-j", "\(min(2, connections))"], connections: connections, seconds: 1)
            try await Task.sleep(for: Self.endOfBackends)
        }
        measurement.operations = count
        measurement.elapsed = .seconds(1)
        return measurement
    }

    /// Calls `operation` from concurrent callers for a second, with numbers that no other run has. The CPU time is that of the engine.
    private func measure(
        _ name: String,
        unit: String,
        callers: Int,
        target: Measurement.Target?,
        _ server: PostgresServer,
        _ operation: @escaping @Sendable (_ caller: Int, _ index: Int) async throws -> Void
    ) async throws -> Measurement {
        let count = Atomic(0)
        let offset = Self.runs.add(1, ordering: .relaxed).newValue * 1_000_000
        var measurement = try await Measurement.run(
            name,
            operations: 1,
            unit: unit,
            target: target,
            processorTime: server.processorTime
        ) {
            let end = ContinuousClock.now + .seconds(1)
            try await forEachConcurrently(Array(0..<callers), callers) { caller in
                var index = 0
                while .now < end {
                    try await operation(caller, offset + index)
                    index += 1
                }
                count.add(index, ordering: .relaxed)
            }
        }
        measurement.operations = count.load(ordering: .relaxed)
        return measurement
    }
}

// MARK: - Commits

extension EngineBenchmark {
    private func measureLatency(_ server: PostgresServer, into report: inout Report) async throws -> Measurement {
        let baseline = "pgbench simple update, 1 connection"
        let (bench, commit) = try await withServers(1, server) { stores in
            try await alternate {
                try await measureBench(baseline, server, ["-N"], connections: 1)
            } with: {
                try await measure(
                    "commit, 1 caller",
                    unit: "commit",
                    callers: 1,
                    target: Measurement.Target(baseline: baseline, ratio: 0.5),
                    server
                ) { _, index in
                    try await Self.write("single/\(index)", index, to: stores[0])
                }
            }
        }
        report.add(bench)
        report.add(commit)
        return commit
    }

    @discardableResult
    private static func write(_ path: String, _ number: Int, to store: any DocumentStore) async throws -> CommitResult {
        let write = try Write.set(Self.path(path), fields(number))
        return try await store.commit([write], validating: ReadSet(), by: nil, identity: nil)
    }

    /// Measures commits on several servers, in turn with those on one of them and with raw statements.
    private func measureCommits(
        _ server: PostgresServer,
        comparedWith alone: Measurement,
        into report: inout Report
    ) async throws {
        let tables = ["commits", "changes", "documents", "entries"]
        try server.execute(
            "CREATE SCHEMA raw; CREATE SEQUENCE raw.batches;"
                + tables.map { "CREATE TABLE raw.\($0) (LIKE hearth.\($0) INCLUDING ALL);" }.joined()
        )
        var model: CommitModel?
        var batch = 32
        for count in [1, 2, 4, 8] {
            let (raw, runs) = try await withServers(count, server) { stores in
                try await alternate {
                    try await measureRawInserts(server, batch: batch)
                } with: {
                    var runs = [try await measureCommits(on: stores, server)]
                    if count > 1 { runs.append(try await measureCommits(on: [stores[0]], server)) }
                    return runs
                } adding: { sums, runs in
                    for (index, run) in runs.enumerated() { sums[index].add(run) }
                }
            }
            var measurement = runs[0].commits
            let size = runs[0].batch
            measurement.quantities.append(Measurement.Quantity(name: "commits in a transaction", value: size, unit: ""))
            if count > 1 { measurement.addProcessorTime(relativeTo: runs[1].commits, maximum: 1.1) }
            if let model {
                let ratio = model.latency(servers: count, batch: size) / (Double(count * callers) * 1_000 / measurement.rate)
                measurement.quantities.append(Measurement.Quantity(name: "latency by the model", value: ratio, unit: "×"))
            } else {
                let fitted = CommitModel(alone: alone, grouped: measurement, batch: size)
                let bytes = Double(try server.number("SELECT bytes FROM hearth.commits ORDER BY seq DESC LIMIT 1"))
                measurement.quantities += [
                    Measurement.Quantity(name: "fixed time of a transaction", value: fitted.fixed, unit: "ms"),
                    Measurement.Quantity(name: "time of a commit in it", value: fitted.each, unit: "ms"),
                    Measurement.Quantity(name: "size of a commit in the log", value: bytes, unit: "bytes"),
                ]
                model = fitted
            }
            batch = max(1, Int(size.rounded()))
            report.add(raw)
            report.add(measurement)
        }
    }

    /// Commits of some servers, and the number of transactions that they took.
    private struct CommitRun {
        var commits: Measurement
        var transactions: Int

        var batch: Double { Double(commits.operations) / Double(max(1, transactions)) }

        mutating func add(_ other: CommitRun) {
            commits.add(other.commits)
            transactions += other.transactions
        }
    }

    private func measureCommits(on stores: [any DocumentStore], _ server: PostgresServer) async throws -> CommitRun {
        let before = try server.number("SELECT max(seq) FROM hearth.commits")
        let commits = try await measure(
            "commit, \(callers) callers a server, servers: \(stores.count)",
            unit: "commit",
            callers: stores.count * callers,
            target: Measurement.Target(baseline: Self.rawName, ratio: 0.3),
            server
        ) { caller, index in
            try await Self.write("write/\(caller)-\(index)", index, to: stores[caller % stores.count])
        }
        let transactions = try server.number("SELECT count(DISTINCT xmin::text) FROM hearth.commits WHERE seq > \(before)")
        return CommitRun(commits: commits, transactions: transactions)
    }

    /// Measures commits on several servers that forward theirs to one of them, in turn with those of as many callers on that one alone.
    private func measureForwardedCommits(_ server: PostgresServer, into report: inout Report) async throws {
        for count in [2, 4, 8] {
            var hosts: [PostgresHost] = []
            let connection = ProcessForwarding()
            for _ in 0..<count {
                let host = try await open(server)
                host.startForwarding(at: connection.add(host), connection)
                hosts.append(host)
            }
            // Servers know within a second who has the lease, and forward when they have waited for the lock.
            let stores = hosts.map(\.defaultStore)
            for _ in 0..<2 { _ = try await measureCommits(on: stores, server) }
            let holder = hosts.first { $0.engineStatus?.leaseCount == 1 } ?? hosts[0]
            let forwarded = { hosts.reduce(0) { $0 + ($1.engineStatus?.forwardedCount ?? 0) } }
            let before = forwarded()
            let (alone, all) = try await alternate {
                try await measureCommits(on: Array(repeating: holder.defaultStore, count: count), server).commits
            } with: {
                try await measureCommits(on: stores, server)
            } adding: { sum, run in
                sum.add(run)
            }
            var measurement = all.commits
            measurement.name = "forwarded " + measurement.name
            measurement.quantities += [
                Measurement.Quantity(name: "latency", value: Double(count * callers) * 1_000 / measurement.rate, unit: "ms"),
                Measurement.Quantity(
                    name: "latency relative to as many callers on one server",
                    value: alone.rate / measurement.rate,
                    unit: "×"
                ),
                Measurement.Quantity(
                    name: "forwarded part",
                    value: Double(forwarded() - before) / Double(max(1, all.commits.operations)),
                    unit: ""
                ),
                Measurement.Quantity(name: "commits in a transaction", value: all.batch, unit: ""),
            ]
            report.add(measurement)
            for host in hosts { await host.close() }
        }
    }

    private static let rawName = "raw INSERT of the rows of commits"

    /// Inserts rows like those of commits into tables like Hearth's, without anything else.
    private func measureRawInserts(_ server: PostgresServer, batch: Int) async throws -> Measurement {
        let document = Document(path: try Self.path("a/b"), fields: Self.fields(1), createTime: .minimum, updateTime: .minimum)
        let fields = String(decoding: EncodedDocument(document).fieldsJSON, as: UTF8.self)
        let script = """
            SELECT nextval('raw.batches') * 10000 AS base \\gset
            BEGIN;
            INSERT INTO raw.commits (db, seq, time, bytes, token, format)
                SELECT 1, :base + n, :base + n, 500, '0123456789abcdef', 2 FROM generate_series(1, \(batch)) n;
            INSERT INTO raw.changes (db, seq, n, name, path, collection, collection_group, after_fields, after_created)
                SELECT 1, :base + n, 0, int8send(hashint8extended(:base + n, 1)), int8send(:base + n), 5, 6, '\(fields)', :base
                FROM generate_series(1, \(batch)) n;
            INSERT INTO raw.documents (db, name, path, collection, collection_group, fields, created, updated)
                SELECT 1, int8send(hashint8extended(:base + n, 1)), int8send(:base + n), 5, 6, '\(fields)', :base, :base
                FROM generate_series(1, \(batch)) n;
            INSERT INTO raw.entries (db, scope, slot, value, name, is_double)
                SELECT 1, 5, e, int8send(hashint8extended(:base + n, e)), int8send(hashint8extended(:base + n, 1)), false
                FROM generate_series(1, \(batch)) n, generate_series(1, \(Self.entryCount)) e;
            COMMIT;
            """
        var count = 0
        var measurement = try await Measurement.run(
            Self.rawName,
            operations: 1,
            unit: "commit",
            processorTime: server.processorTime
        ) {
            count = try server.bench(script: script, connections: 1, seconds: 1)
            try await Task.sleep(for: Self.endOfBackends)
        }
        measurement.operations = count * batch
        measurement.elapsed = .seconds(1)
        return measurement
    }
}

// MARK: - Events

extension EngineBenchmark {
    /// Measures the time from the acknowledgement of a commit on one server to its event on another one.
    private func measureEvents(_ server: PostgresServer, into report: inout Report) async throws {
        report.add(try await withServers(2, server) { stores in try await measureEvents(from: stores[0], to: stores[1]) })
    }

    private func measureEvents(from writer: any DocumentStore, to reader: any DocumentStore) async throws -> Measurement {
        let count = 100 * seconds
        let start = try await reader.safePosition().lastSequence
        let events = Task {
            var times: [SequenceNumber: ContinuousClock.Instant] = [:]
            for try await commit in reader.commits(after: start) {
                times[commit.sequence] = .now
                if times.count == count { break }
            }
            return times
        }
        var acknowledged: [SequenceNumber: ContinuousClock.Instant] = [:]
        var measurement = try await Measurement.run(
            "event on another server, 100 commits a second",
            operations: count,
            unit: "event"
        ) {
            let begin = ContinuousClock.now
            for index in 0..<count {
                try await Task.sleep(until: begin + .milliseconds(10) * index)
                let result = try await Self.write("event/\(index)", index, to: writer)
                if let sequence = result.sequence { acknowledged[sequence] = .now }
            }
            _ = try await events.value
        }
        let seen = try await events.value
        let latencies = acknowledged.compactMap { sequence, time in
            seen[sequence].map { max(0, ($0 - time) / .milliseconds(1)) }
        }.sorted()
        for (percent, maximum) in [(50, nil), (99, 25.0)] as [(Int, Double?)] {
            let quantity = Measurement.Quantity(
                name: "after the acknowledgement, p\(percent)",
                value: latencies.percentile(percent),
                unit: "ms",
                maximum: maximum
            )
            measurement.quantities.append(quantity)
        }
        return measurement
    }
}

extension Measurement {
    /// Adds another run of the workload.
    fileprivate mutating func add(_ other: Measurement) {
        operations += other.operations
        elapsed += other.elapsed
        processorTime += other.processorTime
    }
}

/// A connection between servers in this process, in the place of HTTP.
private final class ProcessForwarding: CommitForwarding {
    private let hosts = Mutex<[PostgresHost]>([])

    /// Adds a server, and returns its address.
    func add(_ host: PostgresHost) -> String {
        hosts.withLock { hosts in
            hosts.append(host)
            return "\(hosts.count - 1)"
        }
    }

    func forward(_ batch: [UInt8], to address: String, within limit: Duration) async throws -> [UInt8] {
        guard let index = Int(address) else { throw StatusError(.unavailable, "There is no such server.") }
        return try await hosts.withLock { $0[index] }.commit(forwarded: batch).get()
    }
}
