import ArgumentParser
import DocumentModel
import StrictJSON

/// The JSON codec: scanning, building values, writing.
struct JSONBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json",
        abstract: "Scanning, decoding and encoding documents."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "How often each document is processed.")
    var rounds = 200

    func run() async throws {
        var report = Report()
        var generator = GeneratedDocuments(seed: options.seed)
        let documents = (0..<100).map { _ in generator.next() }
        let texts = documents.map { fields in
            var writer = JSONWriter()
            fields.write(to: &writer)
            return writer.bytes
        }
        let bytes = texts.reduce(0) { $0 + $1.count } * rounds
        report.add(
            try await Measurement.run("scan to a tape", operations: bytes, unit: "byte") {
                for _ in 0..<rounds { for text in texts { _ = try JSONText(text) } }
            }
        )
        report.add(
            try await Measurement.run("scan and build values", operations: bytes, unit: "byte") {
                for _ in 0..<rounds { for text in texts { _ = try MapValue(json: try JSONText(text).root) } }
            }
        )
        report.add(
            try await Measurement.run("write values", operations: bytes, unit: "byte") {
                for _ in 0..<rounds {
                    for fields in documents {
                        var writer = JSONWriter(reservingCapacity: 1_500)
                        fields.write(to: &writer)
                    }
                }
            }
        )
        if let path = options.json { try report.write(to: path) }
    }
}
