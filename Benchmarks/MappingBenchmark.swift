import ArgumentParser
import DocumentModel
import Foundation
import HearthClient

/// Codable mapping of documents, compared with Foundation's JSON coders for the same types.
struct MappingBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mapping",
        abstract: "Encoding and decoding a type, compared with Foundation's JSON coders."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of iterations per document.")
    var rounds = 500

    func run() async throws {
        var report = Report()
        var generator = DocumentGenerator(seed: options.seed)
        let documents = (0..<100).map { _ in generator.next() }
        let decoder = Firestore.Decoder()
        let values = try documents.map { try decoder.decode(Volume.self, from: .map($0), of: nil, in: nil) }
        let texts = try values.map { try JSONEncoder().encode($0) }
        let operations = documents.count * rounds
        report.add(
            try await Measurement.run("JSONEncoder", operations: operations, unit: "document") {
                let encoder = JSONEncoder()
                for _ in 0..<rounds { for value in values { _ = try encoder.encode(value) } }
            }
        )
        report.add(
            try await Measurement.run(
                "Firestore.Encoder",
                operations: operations,
                unit: "document",
                target: .init(baseline: "JSONEncoder", ratio: 2)
            ) {
                let encoder = Firestore.Encoder()
                for _ in 0..<rounds { for value in values { _ = try encoder.documentData(value) } }
            }
        )
        report.add(
            try await Measurement.run("JSONDecoder", operations: operations, unit: "document") {
                let decoder = JSONDecoder()
                for _ in 0..<rounds { for text in texts { _ = try decoder.decode(Volume.self, from: text) } }
            }
        )
        report.add(
            try await Measurement.run(
                "Firestore.Decoder",
                operations: operations,
                unit: "document",
                target: .init(baseline: "JSONDecoder", ratio: 2)
            ) {
                for _ in 0..<rounds {
                    for fields in documents { _ = try decoder.decode(Volume.self, from: .map(fields), of: nil, in: nil) }
                }
            }
        )
        let dictionaries = try values.map { try Firestore.Encoder().encode($0) }
        report.add(
            try await Measurement.run(
                "Firestore.Decoder, from dictionaries",
                operations: operations,
                unit: "document",
                target: .init(baseline: "JSONDecoder", ratio: 1)
            ) {
                for _ in 0..<rounds { for dictionary in dictionaries { _ = try decoder.decode(Volume.self, from: dictionary) } }
            }
        )
        if let path = options.json { try report.write(to: path) }
    }
}

/// The type of the generated documents.
struct Volume: Codable {
    var author: String
    var available: Bool
    var body: String
    var dimensions: Dimensions
    var isbn: Int
    var numberOfPages: Int
    var published: Int
    var rating: Double
    var tags: [String]
    var title: String

    struct Dimensions: Codable {
        var height: Int
        var width: Int
    }
}
