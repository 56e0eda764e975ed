import ArgumentParser
import Foundation
import Logging

/// The benchmark program. Each workload is compared with a baseline, measured in the same run and the same folder.
@main
struct HearthBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth-bench",
        abstract: "Benchmarks of Hearth, compared with baselines measured on the same machine.",
        discussion: """
            Prints, for each workload, its rate, the CPU time per operation, and the ratio to the rate of its baseline, which is \
            measured in the same run.
            """,
        subcommands: [
            StoreBenchmark.self, IndexBenchmark.self, QueryBenchmark.self, HTTPBenchmark.self, GRPCBenchmark.self,
            SustainedBenchmark.self, WatchBenchmark.self, PageBenchmark.self, PeersBenchmark.self, ScalingBenchmark.self,
            RulesBenchmark.self, CacheBenchmark.self, EditBenchmark.self, EngineBenchmark.self,
            JSONBenchmark.self, MappingBenchmark.self, ClientBenchmark.self, OfflineBenchmark.self, ConstantServer.self,
            ConstantGRPCServer.self,
        ]
    )
}

/// The options shared by all benchmarks.
struct BenchmarkOptions: ParsableArguments {
    @Option(help: "Folder in which a temporary folder is created.")
    var folder = "/tmp"

    @Option(help: "Seed of the generated documents.")
    var seed: UInt64 = 1

    @Option(help: "Number of processes that compete for the CPUs during the benchmark.")
    var busy = 0

    @Option(help: "Write the results to this file as JSON.")
    var json: String?
}

extension Logger {
    /// A logger for warnings and errors of the measured code, on standard error.
    static let benchmark = {
        var logger = Logger(label: "hearth-bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        return logger
    }()
}

extension HearthBench {
    /// Returns the resident memory of a process in bytes.
    static func residentBytes(of process: String = "self") throws -> Int {
        let pages = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8).split(separator: " ")
        return (Int(pages[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Returns the resident memory of this process in MiB.
    static func residentMebibytes() throws -> Double {
        Double(try residentBytes()) / 1_048_576
    }
}
