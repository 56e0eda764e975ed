import ArgumentParser

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
        subcommands: [StoreBenchmark.self, JSONBenchmark.self]
    )
}

/// What every benchmark takes.
struct BenchmarkOptions: ParsableArguments {
    @Option(help: "The folder to work in; a folder of its own is made there and removed afterwards.")
    var folder = "/tmp"

    @Option(help: "Seed of the generated documents.")
    var seed: UInt64 = 1

    @Option(help: "Also write the results as JSON to this file.")
    var json: String?
}
