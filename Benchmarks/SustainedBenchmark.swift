import ArgumentParser
import DocumentModel
import Foundation
import NIOCore
import StrictJSON

/// A long run of writes, which shows whether memory or the journal grows without bound.
struct SustainedBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sustained",
        abstract: "Many writes over HTTP, with the memory and journal size of the server after each tenth of them."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of writes.")
    var writes = 1_000_000

    @Option(help: "Number of distinct documents.")
    var documents = 50_000

    @Option(help: "Number of concurrent connections.")
    var connections = 64

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    func validate() throws {
        guard writes >= 1_000, documents >= 1, connections >= 1 else {
            throw ValidationError("Requires at least 1,000 writes, 1 document and 1 connection.")
        }
    }

    func run() async throws {
        var report = Report()
        try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                let data = folder + "/data"
                try await BenchmarkServer.withHearth(hearth, data: data, in: folder) { server in
                    var generator = DocumentGenerator(seed: options.seed)
                    for part in 0..<10 {
                        try await measure(part, data, &generator, of: server, into: &report)
                    }
                }
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func measure(
        _ part: Int,
        _ data: String,
        _ generator: inout DocumentGenerator,
        of server: BenchmarkServer,
        into report: inout Report
    ) async throws {
        let count = writes / 10
        let load = HTTPLoad(port: server.port, connections: connections)
        var calls: [ByteBuffer] = []
        for index in 0..<count {
            let fields = generator.next()
            calls.append(
                .call("documents.set") { params in
                    params.key("path")
                    params.string("documents/d\((part * count + index) % documents)")
                    params.key("fields")
                    fields.write(to: &params)
                }
            )
        }
        var measurement = try await Measurement.run(
            "",
            operations: count,
            unit: "call",
            processorTime: server.process.processorTime
        ) {
            try await load.post(calls, to: "/rpc", expecting: HTTPLoad.result)
        }
        measurement.name = "\((part + 1) * count) writes"
        let memory = Double(try server.process.residentBytes()) / 1_048_576
        let journal = Double(try Self.bytes(of: data + "/journal")) / 1_048_576
        measurement.quantities = [
            .init(name: "memory of the server", value: memory, unit: "MiB"),
            .init(name: "journal", value: journal, unit: "MiB", maximum: 256),
        ]
        report.add(measurement)
    }

    private static func bytes(of folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
            // A segment can be deleted concurrently.
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            return sum + (attributes?[.size] as? Int ?? 0)
        }
    }
}
