import ArgumentParser

/// Many watchers of one collection, at a constant write rate.
struct WatchBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Delivery and latency of frames to 10, 100 and 1,000 watchers, with and without a stalled watcher."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Commits per second.")
    var rate = 100

    @Option(help: "Duration in seconds.")
    var seconds = 10

    @Option(help: "Number of watchers; one run for each value.")
    var watchers = [10, 100, 1_000]

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    func validate() throws {
        guard rate >= 1, seconds >= 1, watchers.allSatisfy({ $0 >= 2 }) else {
            throw ValidationError("Requires at least 1 commit per second, 1 second and 2 watchers.")
        }
    }

    func run() async throws {
        var report = Report()
        for watchers in watchers {
            try await BackgroundLoad.with(options.busy) {
                try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                    let limits = ["--watchers", "\(watchers + 1)", "--watchers-per-address", "\(watchers + 1)"]
                    try await BenchmarkServer.withHearth(hearth, data: folder + "/data", limits, in: folder) { server in
                        try await measure(watchers, of: server, into: &report)
                    }
                }
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func measure(_ watchers: Int, of server: BenchmarkServer, into report: inout Report) async throws {
        let load = WatchLoad(watchers: watchers)
        var writer = SteadyWriter(seed: options.seed, rate: rate, port: server.port)
        try await writer.write(1)
        let memory = try server.process.residentBytes()
        try await load.start(.hearth(SteadyWriter.collection, port: server.port), port: server.port)
        let idle = (try server.process.residentBytes() - memory) / watchers
        for isStalled in [false, true] {
            let stalled = isStalled ? watchers - 1 : nil
            if let stalled { try await load.stall(stalled) }
            let count = rate * seconds
            var measurement = try await Measurement.run(
                "",
                operations: count * (watchers - (isStalled ? 1 : 0)),
                unit: "frame",
                processorTime: server.process.processorTime
            ) {
                try await writer.write(count)
                try await load.wait(for: count, except: stalled)
            }
            let statistics = load.drainStatistics().enumerated().filter { $0.offset != stalled }.map(\.element)
            let delivered = statistics.reduce(0) { $0 + $1.frames }
            let outOfOrder = statistics.reduce(0) { $0 + $1.outOfOrder }
            let delays = statistics.flatMap(\.delays).sorted()
            measurement.name = "\(watchers) watchers" + (isStalled ? ", one stalled" : "")
            measurement.quantities = [
                .init(
                    name: "undelivered frames",
                    value: Double(measurement.operations - delivered),
                    unit: "",
                    maximum: 0
                ),
                .init(name: "frames out of order", value: Double(outOfOrder), unit: "", maximum: 0),
                .init(name: "latency from commit to frame, p50", value: delays.percentile(50), unit: "ms"),
                .init(name: "latency from commit to frame, p99", value: delays.percentile(99), unit: "ms"),
            ]
            // With few watchers, one-time allocations of the server would dominate.
            if !isStalled, watchers >= 100 {
                measurement.quantities.append(
                    .init(name: "memory per idle watcher", value: Double(idle) / 1_024, unit: "KiB", maximum: 20)
                )
            }
            report.add(measurement)
        }
        try await load.stop()
    }
}
