import ArgumentParser
import DocumentModel
import Foundation
import NIOCore
import StrictJSON

/// Many watchers of one collection that is written to at a steady rate.
struct WatchBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Frames to 10, 100 and 1,000 watchers, from commit to frame, with one reader that has stopped reading."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "How many commits a second.")
    var rate = 100

    @Option(help: "For how many seconds.")
    var seconds = 10

    @Option(help: "How many watchers, one run each.")
    var watchers = [10, 100, 1_000]

    @Option(help: "The hearth program; by default the one beside this program.")
    var hearth: String?

    func validate() throws {
        guard rate >= 1, seconds >= 1, watchers.allSatisfy({ $0 >= 2 }) else {
            throw ValidationError("At least 1 commit a second, 1 second and 2 watchers are needed.")
        }
    }

    func run() async throws {
        var report = Report()
        for watchers in watchers {
            try await BusyCores.with(options.busy) {
                try await RawFile.withTemporaryFolder(in: options.folder) { folder in
                    try await BenchmarkServer.with(
                        hearth ?? ChildProgram.sibling("hearth"),
                        [
                            "serve", "--data", folder + "/data", "--port", "0", "--watchers", "\(watchers + 1)",
                            "--watchers-per-address", "\(watchers + 1)",
                        ],
                        in: folder
                    ) { server in
                        try await measure(watchers, of: server, into: &report)
                    }
                }
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func measure(_ watchers: Int, of server: BenchmarkServer, into report: inout Report) async throws {
        let load = WatchLoad(watchers: watchers)
        var generator = GeneratedDocuments(seed: options.seed)
        try await write(1, of: &generator, to: server)
        let memory = try server.program.residentBytes()
        try await load.start("documents", port: server.port)
        let idle = (try server.program.residentBytes() - memory) / watchers
        for isStalled in [false, true] {
            let stalled = isStalled ? watchers - 1 : nil
            if let stalled { try await load.stall(stalled) }
            let count = rate * seconds
            var measurement = try await Measurement.run(
                "",
                operations: count * (watchers - (isStalled ? 1 : 0)),
                unit: "frame",
                processorTime: server.program.processorTime
            ) {
                try await write(count, of: &generator, to: server)
                try await load.wait(for: count, except: stalled)
            }
            let tallies = load.takeTallies().enumerated().filter { $0.offset != stalled }.map(\.element)
            let delivered = tallies.reduce(0) { $0 + $1.frames }
            let disorder = tallies.reduce(0) { $0 + $1.disorder }
            let delays = tallies.flatMap(\.delays).sorted()
            measurement.name = "\(watchers) watchers" + (isStalled ? ", one of which reads nothing" : "")
            measurement.quantities = [
                .init(
                    name: "frames that were not delivered",
                    value: Double(measurement.operations - delivered),
                    unit: "",
                    maximum: 0
                ),
                .init(name: "frames out of order", value: Double(disorder), unit: "", maximum: 0),
                .init(name: "from commit to frame, p50", value: Self.percentile(50, of: delays), unit: "ms"),
                .init(name: "from commit to frame, p99", value: Self.percentile(99, of: delays), unit: "ms"),
            ]
            // What the server touches for the first time, whoever watches, would count for a few of them.
            if !isStalled, watchers >= 100 {
                measurement.quantities.append(
                    .init(name: "memory of an idle watcher", value: Double(idle) / 1_024, unit: "KiB", maximum: 20)
                )
            }
            report.add(measurement)
        }
        try await load.stop()
    }

    /// Writes a document at the rate.
    private func write(
        _ count: Int,
        of generator: inout GeneratedDocuments,
        to server: BenchmarkServer
    ) async throws {
        let load = HTTPLoad(port: server.port, connections: 1)
        let clock = ContinuousClock()
        let start = clock.now
        for index in 0..<count {
            try await clock.sleep(until: start + .seconds(1) * index / rate)
            let fields = generator.next()
            let call = ByteBuffer.call("documents.set") { params in
                params.key("path")
                params.string("documents/one")
                params.key("fields")
                fields.write(to: &params)
            }
            try await load.post([call], to: "/rpc", expecting: HTTPLoad.result)
        }
    }

    private static func percentile(_ percent: Int, of sorted: [Double]) -> Double {
        guard !sorted.isEmpty else { return 0 }
        let value = sorted[min(sorted.count - 1, sorted.count * percent / 100)]
        return (value * 100).rounded() / 100
    }
}
