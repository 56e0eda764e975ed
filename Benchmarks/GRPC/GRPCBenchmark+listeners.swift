import DocumentModel
import FirestoreAPI
import FirestoreMessages
import NIOCore
import UTF8Text

// Listeners.
extension GRPCBenchmark {
    /// Measures the delivery of commits to listeners, compared with that to watch streams.
    func measureListeners(in folder: String, into report: inout Report) async throws {
        let count = rate * seconds
        let watched = try await withServer("watched", watchers: listeners, in: folder) { server in
            let load = WatchLoad(watchers: listeners)
            var writer = SteadyWriter(seed: options.seed, rate: rate, port: server.port)
            try await writer.write(1)
            try await load.start(.hearth(SteadyWriter.collection, port: server.port), port: server.port)
            var measurement = try await measure("\(listeners) watch streams", of: server) {
                try await writer.write(count)
                try await load.wait(for: count)
            }
            let statistics = load.drainStatistics()
            measurement.quantities = Self.quantities(
                undelivered: measurement.operations - statistics.reduce(0) { $0 + $1.frames },
                outOfOrder: statistics.reduce(0) { $0 + $1.outOfOrder },
                delays: statistics.flatMap(\.delays)
            )
            try await load.stop()
            return measurement
        }
        report.add(watched)
        try await withServer("listened", watchers: listeners, in: folder) { server in
            let load = ListenLoad(listeners: listeners, connections: connections)
            var writer = SteadyWriter(seed: options.seed, rate: rate, port: server.port)
            try await writer.write(1)
            try await load.start(SteadyWriter.collection, port: server.port)
            _ = load.drainStatistics()
            var measurement = try await measure("\(listeners) listeners, \(connections) connections", of: server) {
                try await writer.write(count)
                try await load.wait(for: count)
            }
            let statistics = load.drainStatistics()
            measurement.quantities = Self.quantities(
                undelivered: measurement.operations - statistics.reduce(0) { $0 + $1.commits },
                outOfOrder: statistics.reduce(0) { $0 + $1.outOfOrder },
                delays: statistics.flatMap(\.delays),
                maximumDelay: watched.quantities.last.map { $0.value * 1.5 }
            )
            let messages = Double(statistics.reduce(0) { $0 + $1.messages })
            measurement.quantities += [
                .init(name: "messages", value: messages / (measurement.elapsed / .seconds(1)), unit: "messages/s"),
                .init(
                    name: "CPU time per message",
                    value: measurement.processorTime / .microseconds(1) / max(1, messages),
                    unit: "µs"
                ),
            ]
            try await load.stop()
            report.add(measurement)
        }
    }

    /// Measures the delivery of each commit to all listeners or watchers.
    private func measure(
        _ name: String,
        of server: BenchmarkServer,
        _ body: () async throws -> Void
    ) async throws -> Measurement {
        try await Measurement.run(
            name,
            operations: rate * seconds * listeners,
            unit: "commit",
            processorTime: server.process.processorTime,
            body: body
        )
    }

    private static func quantities(
        undelivered: Int,
        outOfOrder: Int,
        delays: [Double],
        maximumDelay: Double? = nil
    ) -> [Measurement.Quantity] {
        let delays = delays.sorted()
        return [
            .init(name: "undelivered commits", value: Double(undelivered), unit: "", maximum: 0),
            .init(name: "commits out of order", value: Double(outOfOrder), unit: "", maximum: 0),
            .init(name: "latency from commit to receipt, p50", value: delays.percentile(50), unit: "ms"),
            .init(name: "latency from commit to receipt, p99", value: delays.percentile(99), unit: "ms", maximum: maximumDelay),
        ]
    }

    /// Measures the memory of listeners without commits.
    func measureIdleListeners(in folder: String, into report: inout Report) async throws {
        try await withServer("idle", watchers: idleListeners, in: folder) { server in
            var writer = SteadyWriter(seed: options.seed, rate: rate, port: server.port)
            try await writer.write(1)
            try await server.process.waitUntilIdle()
            let memory = try server.process.residentBytes()
            let load = ListenLoad(listeners: idleListeners, connections: connections)
            var measurement = try await Measurement.run(
                "\(idleListeners) idle listeners, \(connections) connections",
                operations: idleListeners,
                unit: "listener",
                processorTime: server.process.processorTime
            ) {
                try await load.start(SteadyWriter.collection, port: server.port)
            }
            try await server.process.waitUntilIdle()
            let bytes = try server.process.residentBytes() - memory
            measurement.quantities = [
                .init(
                    name: "memory per idle listener",
                    value: Double(bytes) / Double(idleListeners) / 1_024,
                    unit: "KiB",
                    maximum: 20
                )
            ]
            report.add(measurement)
            try await load.stop()
        }
    }

    /// Measures the initial snapshot of a listener, compared with the same query over REST.
    func measureSnapshots(in folder: String, into report: inout Report) async throws {
        try await withServer("snapshots", watchers: 2, in: folder) { server in
            var generator = DocumentGenerator(seed: options.seed)
            let commits = try generator.documents(documents).map { ByteBuffer.commit($0, in: SteadyWriter.collection) }
            try await HTTPLoad(port: server.port, connections: 16).post(commits, to: "/rpc", expecting: HTTPLoad.result)
            let baseline = ":runQuery over REST, \(documents) documents"
            report.add(try await measureRounds(baseline, of: server) { try await runQuery(on: server) })
            report.add(
                try await measureRounds(
                    "Listen, snapshot of \(documents) documents",
                    of: server,
                    target: .init(baseline: baseline, ratio: 0.7)
                ) {
                    try await receiveSnapshot(of: server)
                }
            )
        }
    }

    /// Measures rounds, after one to warm up.
    private func measureRounds(
        _ name: String,
        of server: BenchmarkServer,
        target: Measurement.Target? = nil,
        _ body: () async throws -> Void
    ) async throws -> Measurement {
        try await body()
        try await server.process.waitUntilIdle()
        return try await Measurement.run(
            name,
            operations: Self.snapshotRounds * documents,
            unit: "document",
            target: target,
            processorTime: server.process.processorTime
        ) {
            for _ in 0..<Self.snapshotRounds { try await body() }
        }
    }

    private func runQuery(on server: BenchmarkServer) async throws {
        let query = #"{"structuredQuery":{"from":[{"collectionId":"\#(SteadyWriter.collection)"}]}}"#
        try await HTTPLoad(port: server.port, connections: 1).post(
            [ByteBuffer(string: query)],
            to: "/v1/\(DatabaseName(.standard).root.string):runQuery",
            expecting: #"[{"document":"#
        )
    }

    private func receiveSnapshot(of server: BenchmarkServer) async throws {
        let load = ListenLoad(listeners: 1, connections: 1)
        try await load.start(SteadyWriter.collection, port: server.port)
        let received = load.drainStatistics()[0].documents
        try await load.stop()
        guard received == documents else {
            throw HTTPLoad.UnexpectedResponse(description: "Expected \(documents) documents in a snapshot, found \(received).")
        }
    }

    private static let snapshotRounds = 5
}
