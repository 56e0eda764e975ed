import ArgumentParser
import DocumentModel
import StrictJSON

/// The JSON codec: parsing, decoding and encoding.
struct JSONBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json",
        abstract: "Parsing, decoding and encoding documents."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of iterations per document.")
    var rounds = 200

    func run() async throws {
        var report = Report()
        var generator = DocumentGenerator(seed: options.seed)
        let documents = (0..<100).map { _ in generator.next() }
        let texts = documents.map { fields in
            var writer = JSONWriter()
            fields.write(to: &writer)
            return writer.bytes
        }
        let bytes = texts.reduce(0) { $0 + $1.count } * rounds
        report.add(
            try await Measurement.run("parse to tape", operations: bytes, unit: "byte") {
                for _ in 0..<rounds { for text in texts { _ = try JSONText(text) } }
            }
        )
        report.add(
            try await Measurement.run("parse and decode", operations: bytes, unit: "byte") {
                for _ in 0..<rounds { for text in texts { _ = try MapValue(json: try JSONText(text).root) } }
            }
        )
        report.add(
            try await Measurement.run("encode", operations: bytes, unit: "byte") {
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
