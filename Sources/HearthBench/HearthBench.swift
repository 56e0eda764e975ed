import ArgumentParser
import Logging

/// The benchmark program: each workload runs beside the limit it is judged by, in the same run and the same folder.
@main
struct HearthBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth-bench",
        abstract: "Measures Hearth beside the limits of the machine it runs on.",
        discussion: """
            Every figure is printed with the rate of the limit it is compared with, measured in the same run, and \
            with the processor time that the whole process used for an operation.
            """,
        subcommands: [
            StoreBenchmark.self, IndexBenchmark.self, QueryBenchmark.self, HTTPBenchmark.self, SustainedBenchmark.self,
            WatchBenchmark.self, PageBenchmark.self,
            JSONBenchmark.self, MappingBenchmark.self, ClientBenchmark.self, ConstantServer.self,
        ]
    )
}

/// What every benchmark takes.
struct BenchmarkOptions: ParsableArguments {
    @Option(help: "The folder to work in; a folder of its own is made there and removed afterwards.")
    var folder = "/tmp"

    @Option(help: "Seed of the generated documents.")
    var seed: UInt64 = 1

    @Option(help: "How many programs compete for the processor meanwhile.")
    var busy = 0

    @Option(help: "Also write the results as JSON to this file.")
    var json: String?
}

extension Logger {
    /// Warnings and errors of what is measured, on standard error.
    static let benchmark = {
        var logger = Logger(label: "hearth-bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        return logger
    }()
}
